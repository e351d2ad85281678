import { z } from 'zod';
import { cursorParameter } from '../../queries/cursor.ts';
import { listSortValues, parseSort, sortDescription } from '../../queries/sort.ts';
import { PermanentError } from '../../schemas/errors.ts';
import {
  buildContainsFilter,
  type Collection,
  type Filter,
  type Page,
  type StoredMetadata,
  type TenantDocuments,
} from '../../schemas/ports/documents.ts';
import { createFieldError } from '../errors.ts';

/** A query parameter that filters a list */
export interface ListFilter {
  readonly schema: z.ZodType<string | undefined>;
  where(value: string, now: string): Filter;
}

/** A state of documents that is stored elsewhere */
export interface IdSetFilter {
  readonly summary: string;
  readIds(documents: Pick<TenantDocuments, 'collection'>): Promise<ReadonlySet<string>>;
}

/** Filters and sort keys of a list. */
export interface ListDefinition {
  readonly filters?: Readonly<Record<string, ListFilter>>;
  /**
   * Query parameters with the values true and false: whether a document is among those with the returned ids. For states
   * that are stored outside of the document.
   */
  readonly flags?: Readonly<Record<string, IdSetFilter>>;
  /** Text fields that `search` searches; default `name`. */
  readonly searched?: readonly string[];
  /** Sort fields, the default first; each has a single value. By default name and times. */
  readonly sorts?: readonly string[];
}

/** Returns a filter for documents whose field has the value. */
export const createEqualsFilter = (
  field: string,
  schema: z.ZodType<string> = z.string().min(1).max(256),
): ListFilter => ({
  schema: schema.optional(),
  where: (value) => ({ [field]: value }),
});

/** Returns the query parameters of a list. */
export const createListParameters = ({
  filters = {},
  flags = {},
  searched = ['name'],
  sorts = defaultSorts,
}: ListDefinition) =>
  z.strictObject({
    ...Object.fromEntries(Object.entries(filters).map(([name, { schema }]) => [name, schema])),
    ...Object.fromEntries(
      Object.entries(flags).map(([name, { summary }]) => [
        name,
        z.enum(['true', 'false']).optional().describe(summary),
      ]),
    ),
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
    sort: z.enum(listSortValues(sorts)).optional().describe(`${sortDescription}; default ${sorts[0]}`),
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
  /** Condition in addition to the parameters */
  readonly where?: Filter | undefined;
}

/** Returns the filter of the parameters, except the excluded ones. */
const buildListFilter = (
  { filters = {}, searched = ['name'] }: ListDefinition,
  { query, now, where }: ListRequest,
  excludedParameters: readonly string[] = [],
): Filter => {
  const conditions = Object.entries(filters).flatMap(([name, { where: filter }]) => {
    const value = query[name];
    return typeof value === 'string' && !excludedParameters.includes(name) ? [filter(value, now)] : [];
  });
  if (where !== undefined) conditions.push(where);
  const { search } = query;
  if (typeof search === 'string') {
    conditions.push({ $or: searched.map((field) => ({ [field]: buildContainsFilter(search) })) });
  }
  return conditions.length === 0 ? {} : { $and: conditions };
};

/** Returns the filters of the flags among the parameters. */
export const readFlagFilters = async (
  { flags = {} }: ListDefinition,
  query: ListParameters,
  documents: Pick<TenantDocuments, 'collection'>,
): Promise<Filter[]> => {
  const requested = Object.entries(flags).filter(([name]) => query[name] !== undefined);
  return Promise.all(
    requested.map(async ([name, { readIds }]) => ({
      id: { [query[name] === 'true' ? '$in' : '$nin']: [...(await readIds(documents))] },
    })),
  );
};

/** Returns a page of the documents that match the parameters. */
export const readPage = async <Fields extends object>(
  collection: Collection<Fields>,
  listing: ListDefinition,
  request: ListRequest,
): Promise<Page<Fields & StoredMetadata>> => {
  const { sorts = defaultSorts } = listing;
  const { sort = sorts[0] ?? 'id', limit, cursor } = request.query;
  const { by, direction } = parseSort(sort);
  try {
    return await collection.list({
      filter: buildListFilter(listing, request),
      sort: { [by]: direction === 'ascending' ? 1 : -1 },
      limit,
      after: cursor,
    });
  } catch (error) {
    if (error instanceof PermanentError && error.reason === 'bad-cursor')
      throw createFieldError('cursor', 'is not a cursor of this list with this sort order');
    throw error;
  }
};

/** Values of a list parameter, with the number of documents for each */
export const FacetValues = z.strictObject({
  values: z.array(z.strictObject({ value: z.string(), count: z.int().positive() })).describe('The most frequent first'),
  partial: z.boolean().describe('Whether there are more values'),
});

const maxFacetValues = 1000;

interface Facet {
  /** Parameter that filters by a value of the field */
  readonly parameter: string;
  readonly field: string;
}

/** Returns, for each facet, the values of its field among the documents that match the other parameters. */
export const readFacets = async <Fields extends object>(
  collection: Collection<Fields>,
  listing: ListDefinition,
  { facets, ...request }: ListRequest & { readonly facets: readonly Facet[] },
): Promise<readonly z.input<typeof FacetValues>[]> => {
  const facetParameters = facets.map(({ parameter }) => parameter);
  const selectedValues = facets.flatMap(({ parameter, field }) => {
    const value = request.query[parameter];
    return typeof value === 'string' ? [[field, value] as const] : [];
  });
  const countsByFacet = await collection.countValues(
    facets.map(({ field }) => field),
    {
      filter: buildListFilter(listing, request, facetParameters),
      selectedValues: Object.fromEntries(selectedValues),
      limit: maxFacetValues + 1,
    },
  );
  return countsByFacet.map((counts) => {
    const values = counts.slice(0, maxFacetValues).map(({ value, count }) => ({ value: String(value), count }));
    values.sort((first, second) => second.count - first.count || (first.value < second.value ? -1 : 1));
    return { values, partial: counts.length > maxFacetValues };
  });
};
