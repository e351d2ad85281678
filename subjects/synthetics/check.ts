/** Schema of a check, used by the API, imports, exports and probes */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { alertSeverities } from '../../schemas/alerts.ts';
import { durationSchema } from '../alerts/durations.ts';
import { checkTypes, declaredTypes, getCheckType } from './registry.ts';
import { findVariables, listTexts, type TextWithPath } from './templates.ts';
import type { CheckType, Target } from './types/definition.ts';

type DeclaredType = (typeof declaredTypes)[number];
type SettingsByType = { [Each in DeclaredType as Each['type']]: z.ZodOptional<Each['settings']> };

const types = declaredTypes.map(({ type }) => type) as [DeclaredType['type'], ...DeclaredType['type'][]];

/** Settings of each type, in the field of the type's name */
const settings = Object.fromEntries(
  checkTypes.map(({ type, summary, settings: settingsSchema }) => [type, settingsSchema.optional().describe(summary)]),
) as unknown as SettingsByType;

/** Predefined location: the installation itself */
export const localLocation = 'local';

/** Writable fields of a check */
export const CheckFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  type: z.enum(types).describe('Type of the check; its settings are in the field of the same name'),
  enabled: z.boolean().default(true),
  projectId: z.string().min(1).max(128).nullable().default(null).describe('Project of the results'),
  labels: z.record(z.string().regex(/^[A-Za-z_][\w./-]{0,255}$/), z.string().max(2048)).default({}),
  every: durationSchema('10s', '1d').default('1m'),
  timeout: durationSchema('100ms', '2m').default('10s').describe('Timeout of an attempt, for all steps in total'),
  locations: z
    .array(z.string().min(1).max(128))
    .max(50)
    .default([localLocation])
    .describe('Locations; empty for checks that no location runs, such as heartbeats'),
  consensus: z
    .strictObject({
      down: z
        .int()
        .min(1)
        .max(50)
        .nullable()
        .default(null)
        .describe('Number of voting locations that must fail; `null` for the majority, or both of two locations'),
    })
    .prefault({}),
  retries: z
    .strictObject({
      count: z.int().min(0).max(5).default(1),
      wait: durationSchema('0s', '5m').default('5s').describe('Delay before each retry'),
    })
    .prefault({}),
  alerting: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe('Whether alerts are enabled; states and uptime are recorded in any case'),
      severity: z
        .enum(alertSeverities)
        .default('critical')
        .describe('Severity of the down state; degraded states and a single failing location have a lower severity'),
    })
    .prefault({})
    .describe('Settings of the alert rule'),
  ...settings,
});
export type CheckFields = z.output<typeof CheckFields>;

/** Location of runs that are reported instead of executed */
export const heartbeatLocation = 'heartbeat';

/** Returns the locations whose results count: those of the check, or that of heartbeats. */
export const getVotingLocations = ({
  heartbeat,
  locations,
}: {
  readonly heartbeat?: object | undefined;
  readonly locations: readonly string[];
}): readonly string[] => (heartbeat === undefined ? locations : [heartbeatLocation]);

/** Returns a check in its stored form: a passive check has no locations. */
export const toStoredCheck = (check: CheckFields): CheckFields =>
  getCheckType(check.type).isPassive === true && isDeepStrictEqual(check.locations, [localLocation])
    ? { ...check, locations: [] }
    : check;

/** Returns the type of a check and its settings. */
export const getTypedSettings = (check: CheckFields): { readonly type: CheckType; readonly settings: object } => ({
  type: getCheckType(check.type),
  settings: check[check.type] ?? {},
});

/** Returns the targets to which a check connects, with paths in the check. */
export const listTargets = (check: CheckFields): readonly Target[] => {
  const { type, settings: typeSettings } = getTypedSettings(check);
  const prefixPath = <Part extends { readonly path: string }>(part: Part): Part => ({
    ...part,
    path: `${check.type}.${part.path}`,
  });
  return type.targets(typeSettings).map((target) => ({ ...prefixPath(target), texts: target.texts.map(prefixPath) }));
};

/** Returns all texts in the settings of a check. */
export const listCheckTexts = (check: CheckFields): readonly TextWithPath[] =>
  listTexts(getTypedSettings(check).settings, check.type);

/** Returns the variables that a check uses, without duplicates. */
export const listVariables = (check: CheckFields): readonly string[] => [
  ...new Set(listCheckTexts(check).flatMap(({ text }) => findVariables(text))),
];
