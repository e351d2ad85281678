/** Dashboards as they were saved, in today's form. */
import { z } from 'zod';
import { queryVersion } from '../../queries/query.ts';
import { DashboardFields, documentVersion } from './document.ts';
import { renameFormerFields } from './former-names.ts';

/** Which declarations a dashboard was saved by. */
export interface SavedForm {
  readonly documentVersion: number;
  readonly queryVersion: number;
}

/** The form of what is written now. */
export const presentForm: SavedForm = { documentVersion, queryVersion };

/** A part that today's form has no place for. */
export const Loss = z.strictObject({ path: z.string(), message: z.string() });
type Loss = z.output<typeof Loss>;

/** A dashboard in today's form, and what could not be brought along. */
interface Brought {
  readonly document: DashboardFields;
  readonly losses: Loss[];
}

type Path = readonly (string | number)[];

const textOf = (path: Path): string => path.map(String).join('.');

/** A value without the parts that were taken out of it. Remembers which places its lists had, so that paths stay those of the source. */
class Pruned {
  readonly value: unknown;
  readonly #places = new WeakMap<object, readonly number[]>();

  constructor(source: unknown, removed: ReadonlySet<string>) {
    this.value = this.#prune(source, [], removed);
  }

  #prune(value: unknown, path: Path, removed: ReadonlySet<string>): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (!Array.isArray(value))
      return Object.fromEntries(
        Object.entries(value)
          .filter(([name]) => !removed.has(textOf([...path, name])))
          .map(([name, member]) => [name, this.#prune(member, [...path, name], removed)]),
      );
    const places = value.flatMap((_, index) => (removed.has(textOf([...path, index])) ? [] : [index]));
    const list = places.map((index) => this.#prune(value[index], [...path, index], removed));
    this.#places.set(list, places);
    return list;
  }

  /** The path in the source of the innermost part on this path that there is. */
  sourcePathOf(path: Path): Path {
    const found: (string | number)[] = [];
    let at = this.value;
    for (const name of path) {
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) break;
      found.push(this.#places.get(at)?.[Number(name)] ?? name);
      at = (at as Record<string | number, unknown>)[name];
    }
    return found;
  }
}

/** Each round takes out all that is wrong in what is left; what is missing in a part takes that part with it. */
const maxRounds = 32;

type Issue = z.core.$ZodIssue;

/** The parts of the source that an issue is about. */
const lossesOf = (issue: Issue, pruned: Pruned): (Loss & { readonly isComplete: boolean })[] => {
  const within = pruned.sourcePathOf(issue.path as Path);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: textOf([...within, key]),
      message: 'is not known any more',
      isComplete: false,
    }));
  return [{ path: textOf(within), message: issue.message, isComplete: within.length === 0 }];
};

const brought = (source: object): Brought | undefined => {
  const losses = new Map<string, string>();
  for (let round = 0; round < maxRounds; round++) {
    const pruned = new Pruned(source, new Set(losses.keys()));
    const parsed = DashboardFields.safeParse(pruned.value);
    if (parsed.success) {
      const paths = [...losses.keys()];
      const outermost = [...losses].filter(([path]) => !paths.some((other) => path.startsWith(`${other}.`)));
      return { document: parsed.data, losses: outermost.map(([path, message]) => ({ path, message })) };
    }
    const found = parsed.error.issues.flatMap((issue) => lossesOf(issue, pruned));
    if (found.some(({ isComplete }) => isComplete)) return undefined;
    for (const { path, message } of found) losses.set(path, message);
  }
  return undefined;
};

/** What the store and the server keep beside what a dashboard says. */
const storeFields: ReadonlySet<string> = new Set([
  ...['id', 'version', 'createdAt', 'updatedAt'],
  ...['documentVersion', 'queryVersion', 'ownerId', 'changedBy', 'source'],
]);

/**
 * A dashboard as it was saved, in today's form; undefined where it cannot be read: it is of a later version, or what a dashboard cannot
 * be without is missing. What today's form has no place for is left out, and told.
 */
export const readDashboard = (saved: SavedForm): Brought | undefined => {
  if (saved.documentVersion > documentVersion || saved.queryVersion > queryVersion) return undefined;
  const fields = Object.fromEntries(Object.entries(saved).filter(([name]) => !storeFields.has(name)));
  // What was written in today's form was checked then.
  return saved.documentVersion === documentVersion && saved.queryVersion === queryVersion
    ? { document: fields as DashboardFields, losses: [] }
    : brought(saved.documentVersion < 2 ? renameFormerFields(fields) : fields);
};
