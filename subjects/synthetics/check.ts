/** What a check says, as one declared type: the API, imports, exports and probes read it. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { alertSeverities } from '../../schemas/alerts.ts';
import { duration } from '../alerts/durations.ts';
import { checkTypeOf, checkTypes, declaredTypes } from './registry.ts';
import { type TextAt, textsIn, variablesIn } from './templates.ts';
import type { CheckType, Target } from './types/definition.ts';

type Declared = (typeof declaredTypes)[number];
type SettingsByType = { [Each in Declared as Each['type']]: z.ZodOptional<Each['settings']> };

const types = declaredTypes.map(({ type }) => type) as [Declared['type'], ...Declared['type'][]];

/** Settings of each type, under its name. */
const settings = Object.fromEntries(
  checkTypes.map(({ type, summary, settings: its }) => [type, its.optional().describe(summary)]),
) as unknown as SettingsByType;

/** The location that is there from the start, beside the installation. */
export const localLocation = 'local';

/** What callers write of a check. */
export const CheckFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  type: z.enum(types).describe('Its settings lie in the field of the same name'),
  enabled: z.boolean().default(true),
  projectId: z.string().min(1).max(128).nullable().default(null).describe('The project that its results belong to'),
  labels: z.record(z.string().regex(/^[A-Za-z_][\w./-]{0,255}$/), z.string().max(2048)).default({}),
  every: duration('10s', '1d').default('1m'),
  timeout: duration('100ms', '2m').default('10s').describe('Of an attempt, all steps together'),
  locations: z
    .array(z.string().min(1).max(128))
    .max(50)
    .default([localLocation])
    .describe('Empty for what nobody runs, such as a heartbeat'),
  consensus: z
    .strictObject({
      down: z
        .int()
        .min(1)
        .max(50)
        .nullable()
        .default(null)
        .describe('How many voting locations must fail; null: the majority, and both of two'),
    })
    .prefault({}),
  retries: z
    .strictObject({
      count: z.int().min(0).max(5).default(1),
      wait: duration('0s', '5m').default('5s').describe('Before each'),
    })
    .prefault({}),
  alerting: z
    .strictObject({
      enabled: z.boolean().default(true).describe('false: nobody is alerted; states and uptime are as always'),
      severity: z
        .enum(alertSeverities)
        .default('critical')
        .describe('Of being down; being degraded, and one location that goes on failing, are less'),
    })
    .prefault({})
    .describe('What its alert rule says'),
  ...settings,
});
export type CheckFields = z.output<typeof CheckFields>;

/** Where what is told, and not run, has its runs. */
export const heartbeatLocation = 'heartbeat';

/** Where results of a check come from that count: its locations, or what its job tells. */
export const votingLocations = ({
  heartbeat,
  locations,
}: {
  readonly heartbeat?: object | undefined;
  readonly locations: readonly string[];
}): readonly string[] => (heartbeat === undefined ? locations : [heartbeatLocation]);

/** A check as it is kept: what nobody runs is at no location. */
export const settled = (check: CheckFields): CheckFields =>
  checkTypeOf(check.type).isPassive === true && isDeepStrictEqual(check.locations, [localLocation])
    ? { ...check, locations: [] }
    : check;

/** The type of a check and its settings. */
export const typedSettings = (check: CheckFields): { readonly type: CheckType; readonly settings: object } => ({
  type: checkTypeOf(check.type),
  settings: check[check.type] ?? {},
});

/** What a check connects to, with paths within the check. */
export const targetsOf = (check: CheckFields): readonly Target[] => {
  const { type, settings: its } = typedSettings(check);
  const within = <Part extends { readonly path: string }>(part: Part): Part => ({
    ...part,
    path: `${check.type}.${part.path}`,
  });
  return type.targets(its).map((target) => ({ ...within(target), texts: target.texts.map(within) }));
};

/** All texts of a check's settings. */
export const textsOf = (check: CheckFields): readonly TextAt[] => textsIn(typedSettings(check).settings, check.type);

/** The variables that a check uses, each once. */
export const variablesOf = (check: CheckFields): readonly string[] => [
  ...new Set(textsOf(check).flatMap(({ text }) => variablesIn(text))),
];
