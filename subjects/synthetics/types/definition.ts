/** A type of check as its author writes it: one file, and one line in `../registry.ts`. */
import type { z } from 'zod';
import type { Problem } from '../assertions.ts';
import type { TextAt } from '../templates.ts';

/** Something that a check connects to: where, and all texts that go there. A secret goes to hosts that it is bound to. */
export interface Target {
  /** The field that says where. */
  readonly path: string;
  /** The host as it is written; undefined where only a run knows it. */
  readonly host: string | undefined;
  readonly texts: readonly TextAt[];
}

/** What every check says, and settings may have to fit to. */
interface Interval {
  readonly every: string;
}

/** A type of check with its author's types closed over, so that the registry is a plain array. */
export interface CheckType {
  /** As it stands in a check's `type`; its settings lie in the field of the same name. */
  readonly type: string;
  readonly name: string;
  readonly summary: string;
  /** Nobody runs it: whom it watches tells of it. Such a check has no locations, timeout and retries. */
  readonly isPassive?: true | undefined;
  /** The shortest interval, where 10 seconds are too short. */
  readonly minEvery?: string;
  /** A strict object. */
  readonly settings: z.ZodObject;
  /** Phases of a step in the order of time, which add up to the whole; none where it has no steps. */
  readonly phases: readonly string[];
  /** What is wrong beyond the form of the settings, with paths within them. */
  problems(settings: object, check: Interval): readonly Problem[];
  /** Where texts of the settings go. */
  targets(settings: object): readonly Target[];
}

/** What the registry knows of a type when it compiles. */
type Declared<Type extends string, Settings extends z.ZodObject, IsPassive extends true | undefined> = Omit<
  CheckType,
  'isPassive'
> & {
  readonly type: Type;
  readonly settings: Settings;
  readonly isPassive?: IsPassive;
};

/** Declares a type of check. */
export const defineCheckType = <
  const Type extends string,
  Settings extends z.ZodObject,
  IsPassive extends true | undefined = undefined,
>(
  definition: Omit<CheckType, 'type' | 'isPassive' | 'settings' | 'problems' | 'targets'> & {
    readonly type: Type;
    readonly isPassive?: IsPassive;
    readonly settings: Settings;
    problems(settings: z.output<Settings>, check: Interval): readonly Problem[];
    targets(settings: z.output<Settings>): readonly Target[];
  },
): Declared<Type, Settings, IsPassive> =>
  // It is given settings of its own schema only.
  definition as unknown as Declared<Type, Settings, IsPassive>;

/** Paths of problems of a part, within the whole. */
export const problemsAt = (path: string, problems: readonly Problem[]): readonly Problem[] =>
  problems.map((problem) => ({ ...problem, path: problem.path === '' ? path : `${path}.${problem.path}` }));
