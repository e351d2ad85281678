/** Stored dashboards, converted to the current form. */
import { z } from 'zod';
import { queryVersion } from '../../queries/query.ts';
import { DashboardFields, documentVersion } from './document.ts';
import { renameFormerFields } from './former-names.ts';

/** Schema versions with which a dashboard was saved. */
export interface SavedVersions {
  readonly documentVersion: number;
  readonly queryVersion: number;
}

/** The current form of saved dashboards. */
export const currentVersions: SavedVersions = { documentVersion, queryVersion };

/** A part that the current form does not support. */
export const Loss = z.strictObject({ path: z.string(), message: z.string() });
type Loss = z.output<typeof Loss>;

/** A dashboard in the current form, and the unsupported parts */
interface ConvertedDashboard {
  readonly document: DashboardFields;
  readonly losses: Loss[];
}

type Path = readonly (string | number)[];

const pathText = (path: Path): string => path.map(String).join('.');

/** A value after the removal of parts. Records the original list indexes, so that paths refer to the source. */
class PrunedDocument {
  readonly value: unknown;
  readonly #sourceIndexes = new WeakMap<object, readonly number[]>();

  constructor(source: unknown, removed: ReadonlySet<string>) {
    this.value = this.#prune(source, [], removed);
  }

  #prune(value: unknown, path: Path, removed: ReadonlySet<string>): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (!Array.isArray(value))
      return Object.fromEntries(
        Object.entries(value)
          .filter(([name]) => !removed.has(pathText([...path, name])))
          .map(([name, member]) => [name, this.#prune(member, [...path, name], removed)]),
      );
    const places = value.flatMap((_, index) => (removed.has(pathText([...path, index])) ? [] : [index]));
    const list = places.map((index) => this.#prune(value[index], [...path, index], removed));
    this.#sourceIndexes.set(list, places);
    return list;
  }

  /** Returns the source path of the innermost existing part on this path. */
  findSourcePath(path: Path): Path {
    const found: (string | number)[] = [];
    let at = this.value;
    for (const name of path) {
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) break;
      found.push(this.#sourceIndexes.get(at)?.[Number(name)] ?? name);
      at = (at as Record<string | number, unknown>)[name];
    }
    return found;
  }
}

/** Each round removes all invalid parts; a part with a missing member is removed in the next round. */
const maxRounds = 32;

type Issue = z.core.$ZodIssue;

/** Returns the parts of the source that an issue concerns. */
const findLosses = (issue: Issue, pruned: PrunedDocument): (Loss & { readonly isComplete: boolean })[] => {
  const within = pruned.findSourcePath(issue.path as Path);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: pathText([...within, key]),
      message: 'is no longer known',
      isComplete: false,
    }));
  return [{ path: pathText(within), message: issue.message, isComplete: within.length === 0 }];
};

const removeInvalidParts = (source: object): ConvertedDashboard | undefined => {
  const losses = new Map<string, string>();
  for (let round = 0; round < maxRounds; round++) {
    const pruned = new PrunedDocument(source, new Set(losses.keys()));
    const parsed = DashboardFields.safeParse(pruned.value);
    if (parsed.success) {
      const paths = [...losses.keys()];
      const outermost = [...losses].filter(([path]) => !paths.some((other) => path.startsWith(`${other}.`)));
      return { document: parsed.data, losses: outermost.map(([path, message]) => ({ path, message })) };
    }
    const issueLosses = parsed.error.issues.flatMap((issue) => findLosses(issue, pruned));
    if (issueLosses.some(({ isComplete }) => isComplete)) return undefined;
    for (const { path, message } of issueLosses) losses.set(path, message);
  }
  return undefined;
};

/** Fields of the store and the server in addition to the document */
const storeFields: ReadonlySet<string> = new Set([
  ...['id', 'version', 'createdAt', 'updatedAt'],
  ...['documentVersion', 'queryVersion', 'ownerId', 'changedBy', 'source'],
]);

/**
 * Converts a saved dashboard to the current form. Returns undefined if it is of a later version, or if a required part
 * is missing. Unsupported parts are omitted and reported.
 */
export const parseStoredDashboard = (saved: SavedVersions): ConvertedDashboard | undefined => {
  if (saved.documentVersion > documentVersion || saved.queryVersion > queryVersion) return undefined;
  const fields = Object.fromEntries(Object.entries(saved).filter(([name]) => !storeFields.has(name)));
  // Documents in the current form were validated when they were saved.
  return saved.documentVersion === documentVersion && saved.queryVersion === queryVersion
    ? { document: fields as DashboardFields, losses: [] }
    : removeInvalidParts(saved.documentVersion < 2 ? renameFormerFields(fields) : fields);
};
