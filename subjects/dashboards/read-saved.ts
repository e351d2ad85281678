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

/** A dashboard in the current form, and its unsupported parts. */
interface ConvertedDashboard {
  readonly document: DashboardFields;
  readonly losses: Loss[];
}

type Path = readonly (string | number)[];

const formatPath = (path: Path): string => path.map(String).join('.');

/** A value after the removal of parts. Records the original list indexes, so that paths refer to the source. */
class PrunedDocument {
  readonly value: unknown;
  readonly #sourceIndexes = new WeakMap<object, readonly number[]>();

  constructor(source: unknown, removedPaths: ReadonlySet<string>) {
    this.value = this.#removeParts(source, [], removedPaths);
  }

  #removeParts(value: unknown, path: Path, removedPaths: ReadonlySet<string>): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (!Array.isArray(value))
      return Object.fromEntries(
        Object.entries(value)
          .filter(([name]) => !removedPaths.has(formatPath([...path, name])))
          .map(([name, member]) => [name, this.#removeParts(member, [...path, name], removedPaths)]),
      );
    const remainingIndexes = value.flatMap((_, index) =>
      removedPaths.has(formatPath([...path, index])) ? [] : [index],
    );
    const list = remainingIndexes.map((index) => this.#removeParts(value[index], [...path, index], removedPaths));
    this.#sourceIndexes.set(list, remainingIndexes);
    return list;
  }

  /** Returns the source path of the innermost existing part on this path. */
  findSourcePath(path: Path): Path {
    const sourcePath: (string | number)[] = [];
    let current = this.value;
    for (const name of path) {
      if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) break;
      sourcePath.push(this.#sourceIndexes.get(current)?.[Number(name)] ?? name);
      current = (current as Record<string | number, unknown>)[name];
    }
    return sourcePath;
  }
}

/** Each round removes all invalid parts; a part with a missing member is removed in the next round. */
const maxRounds = 32;

type Issue = z.core.$ZodIssue;

/** Returns the parts of the source that an issue concerns. */
const findLosses = (issue: Issue, pruned: PrunedDocument): (Loss & { readonly isComplete: boolean })[] => {
  const containerPath = pruned.findSourcePath(issue.path as Path);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: formatPath([...containerPath, key]),
      message: 'is no longer known',
      isComplete: false,
    }));
  return [{ path: formatPath(containerPath), message: issue.message, isComplete: containerPath.length === 0 }];
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

/** Fields that the store and the server add to the document. */
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
