import { z } from 'zod';
import { cursorParameter } from '../../queries/cursor.ts';
import { sortOf, sortsOf, sortText } from '../../queries/sort.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { type Collection, containing, type Filter, type Page, type Stored } from '../../schemas/ports/documents.ts';
import { invalid } from '../errors.ts';

/** A query parameter that restricts a list. */
export interface ListFilter {
  readonly schema: z.ZodType<string | undefined>;
  where(value: string, now: string): Filter;
}

/** What can be asked of a list. */
export interface Listing {
  readonly filters?: Readonly<Record<string, ListFilter>>;
  /** Fields that hold text and in which `search` looks; `name` unless told otherwise. */
  readonly searched?: readonly string[];
  /** Fields by which it can be sorted, the usual one first; each holds one value. Name and times unless told otherwise. */
  readonly sorts?: readonly string[];
}

/** Only documents whose field has the value. */
export const equals = (field: string, schema: z.ZodType<string> = z.string().min(1).max(256)): ListFilter => ({
  schema: schema.optional(),
  where: (value) => ({ [field]: value }),
});

/** The query parameters of a list. */
export const listParameters = ({ filters = {}, searched = ['name'], sorts = defaultSorts }: Listing) =>
  z.strictObject({
    ...Object.fromEntries(Object.entries(filters).map(([name, { schema }]) => [name, schema])),
    ...(searched.length === 0
      ? {}
      : {
          search: z
            .string()
            .min(1)
            .max(256)
            .optional()
            .describe(`Text in ${searched.join(' or ')}, case-insensitive`),
        }),
    sort: z.enum(sortsOf(sorts)).optional().describe(`${sortText}; default ${sorts[0]}`),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: cursorParameter,
  });

export type ListParameters = Readonly<Record<string, unknown>> & {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly sort?: string | undefined;
};

const defaultSorts = ['name', 'createdAt', 'updatedAt'];

interface ListRequest {
  readonly query: ListParameters;
  readonly now: string;
  /** Beside what the parameters say. */
  readonly where?: Filter | undefined;
}

/** What the parameters ask for, those of `without` left out. */
const asFilter = (
  { filters = {}, searched = ['name'] }: Listing,
  { query, now, where }: ListRequest,
  without: readonly string[] = [],
): Filter => {
  const conditions = Object.entries(filters).flatMap(([name, { where: filter }]) => {
    const value = query[name];
    return typeof value === 'string' && !without.includes(name) ? [filter(value, now)] : [];
  });
  if (where !== undefined) conditions.push(where);
  const { search } = query;
  if (typeof search === 'string') {
    conditions.push({ $or: searched.map((field) => ({ [field]: containing(search) })) });
  }
  return conditions.length === 0 ? {} : { $and: conditions };
};

/** A page of what the parameters ask for. */
export const readPage = async <Fields extends object>(
  collection: Collection<Fields>,
  listing: Listing,
  request: ListRequest,
): Promise<Page<Fields & Stored>> => {
  const { sorts = defaultSorts } = listing;
  const { sort = sorts[0] ?? 'id', limit, cursor } = request.query;
  const { by, direction } = sortOf(sort);
  try {
    return await collection.list({
      filter: asFilter(listing, request),
      sort: { [by]: direction === 'ascending' ? 1 : -1 },
      limit,
      after: cursor,
    });
  } catch (error) {
    if (error instanceof PermanentError && error.reason === 'bad-cursor')
      throw invalid('cursor', 'is not a cursor of this list in this order');
    throw error;
  }
};

/** What a parameter of a list can be given, and how many it would find. */
export const FacetValues = z.strictObject({
  values: z.array(z.strictObject({ value: z.string(), count: z.int().positive() })).describe('The most frequent first'),
  partial: z.boolean().describe('Whether there are more'),
});

const maxValues = 1000;

interface Facet {
  /** Finds what has its value in the field. */
  readonly parameter: string;
  readonly field: string;
}

/** Of each facet, values of the field that its parameter restricts, among what the other parameters ask for. */
export const readFacets = async <Fields extends object>(
  collection: Collection<Fields>,
  listing: Listing,
  { facets, ...request }: ListRequest & { readonly facets: readonly Facet[] },
): Promise<readonly z.input<typeof FacetValues>[]> => {
  const without = facets.map(({ parameter }) => parameter);
  const chosen = facets.flatMap(({ parameter, field }) => {
    const value = request.query[parameter];
    return typeof value === 'string' ? [[field, value] as const] : [];
  });
  const counted = await collection.counts(
    facets.map(({ field }) => field),
    { filter: asFilter(listing, request, without), chosen: Object.fromEntries(chosen), limit: maxValues + 1 },
  );
  return counted.map((counts) => {
    const values = counts.slice(0, maxValues).map(({ value, count }) => ({ value: String(value), count }));
    values.sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1));
    return { values, partial: counts.length > maxValues };
  });
};
