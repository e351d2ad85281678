/** Definition of a check type: one file, and one line in `../registry.ts` */
import type { z } from 'zod';
import type { Problem } from '../assertions.ts';
import type { TextWithPath } from '../templates.ts';

/**
 * A target of a check: its host, and all texts that are sent to it. Secrets are only sent to hosts to which they are
 * bound.
 */
export interface Target {
  /** Field that contains the host */
  readonly path: string;
  /** Host as written; `undefined` if it is only known during a run */
  readonly host: string | undefined;
  readonly texts: readonly TextWithPath[];
}

/** Fields of every check that may restrict the settings */
interface CheckInterval {
  readonly every: string;
}

/** A check type with its generic parameters erased, so that the registry is a plain array */
export interface CheckType {
  /** Value of a check's `type`; its settings are in the field of the same name */
  readonly type: string;
  readonly name: string;
  readonly summary: string;
  /** Whether the check is not run but reported by the monitored job. It has no locations, timeout and retries. */
  readonly isPassive?: true | undefined;
  /** Minimum interval, if it is more than 10 seconds */
  readonly minEvery?: string;
  /** A strict object */
  readonly settings: z.ZodObject;
  /** Phases of a step in time order, which add up to the total; empty if the type has no steps */
  readonly phases: readonly string[];
  /** Returns problems beyond the schema of the settings, with paths in the settings. */
  problems(settings: object, check: CheckInterval): readonly Problem[];
  /** Returns the targets to which texts of the settings are sent. */
  targets(settings: object): readonly Target[];
}

/** Static type of a registered check type */
type DefinedCheckType<Type extends string, Settings extends z.ZodObject, IsPassive extends true | undefined> = Omit<
  CheckType,
  'isPassive'
> & {
  readonly type: Type;
  readonly settings: Settings;
  readonly isPassive?: IsPassive;
};

/** Defines a check type. */
export const defineCheckType = <
  const Type extends string,
  Settings extends z.ZodObject,
  IsPassive extends true | undefined = undefined,
>(
  definition: Omit<CheckType, 'type' | 'isPassive' | 'settings' | 'problems' | 'targets'> & {
    readonly type: Type;
    readonly isPassive?: IsPassive;
    readonly settings: Settings;
    problems(settings: z.output<Settings>, check: CheckInterval): readonly Problem[];
    targets(settings: z.output<Settings>): readonly Target[];
  },
): DefinedCheckType<Type, Settings, IsPassive> =>
  // The type only receives settings of its own schema.
  definition as unknown as DefinedCheckType<Type, Settings, IsPassive>;

/** Returns problems with their paths prefixed. */
export const prefixPaths = (path: string, problems: readonly Problem[]): readonly Problem[] =>
  problems.map((problem) => ({ ...problem, path: problem.path === '' ? path : `${path}.${problem.path}` }));
