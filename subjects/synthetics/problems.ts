/** Finds problems that the schema of a check does not detect and that prevent its execution */
import { formatDuration, parseDurationMs } from '../alerts/durations.ts';
import { escapeTemplate, maxLabelLength } from '../alerts/escape-template.ts';
import type { Problem } from './assertions.ts';
import { type CheckFields, getTypedSettings, listCheckTexts, listTargets, localLocation } from './check.ts';
import { checkTypes, getCheckType } from './registry.ts';
import { findVariables, parseTemplateUses } from './templates.ts';
import { prefixPaths } from './types/definition.ts';

/** Names that a check may reference */
export interface ReferenceableNames {
  readonly locations: ReadonlySet<string>;
  /** Hosts to which a secret is bound; `undefined` for a variable that is not a secret */
  readonly variables: ReadonlyMap<string, readonly string[] | undefined>;
}

const findSettingsProblems = (check: CheckFields): readonly Problem[] =>
  checkTypes.flatMap(({ type }) => {
    const isSet = check[type as CheckFields['type']] !== undefined;
    if (type === check.type) return isSet ? [] : [{ path: type, message: `is required for the type ${type}` }];
    return isSet ? [{ path: type, message: `must not be set for the type ${check.type}` }] : [];
  });

const findTimeProblems = ({ type, every, timeout, retries }: CheckFields): readonly Problem[] => {
  const maxRunMs = parseDurationMs(timeout) * (retries.count + 1) + parseDurationMs(retries.wait) * retries.count;
  const { minEvery = '0s' } = getCheckType(type);
  if (parseDurationMs(every) < parseDurationMs(minEvery))
    return [{ path: 'every', message: `must be at least ${minEvery} for the type ${type}` }];
  if (parseDurationMs(timeout) > parseDurationMs(every))
    return [{ path: 'timeout', message: `must be at most the interval of ${every}` }];
  return maxRunMs > parseDurationMs(every) * 3
    ? [
        {
          path: 'retries',
          message: `may take ${formatDuration(maxRunMs)} with all attempts, which is more than three intervals of ${every}`,
        },
      ]
    : [];
};

const findLocationProblems = ({ locations, consensus }: CheckFields, names: ReferenceableNames): readonly Problem[] => [
  ...(locations.length === 0 ? [{ path: 'locations', message: 'must contain at least one location' }] : []),
  ...locations.flatMap((location, index) => {
    const path = `locations.${index}`;
    if (locations.indexOf(location) !== index) return [{ path, message: 'is repeated' }];
    return location === localLocation || names.locations.has(location)
      ? []
      : [{ path, message: `the location ${location} does not exist` }];
  }),
  ...(locations.length > 0 && consensus.down !== null && consensus.down > locations.length
    ? [{ path: 'consensus.down', message: `must be at most ${locations.length}, the number of locations` }]
    : []),
];

const findRunProblems = (check: CheckFields, names: ReferenceableNames): readonly Problem[] => {
  if (getCheckType(check.type).isPassive !== true)
    return [...findTimeProblems(check), ...findLocationProblems(check, names)];
  return check.locations.length > 0
    ? [{ path: 'locations', message: `must not be set for the type ${check.type}: no location runs it` }]
    : [];
};

const findLabelProblems = ({ labels }: CheckFields): readonly Problem[] =>
  Object.entries(labels).flatMap(([name, text]) =>
    escapeTemplate(text).length <= maxLabelLength
      ? []
      : [{ path: `labels.${name}`, message: `must have at most ${maxLabelLength} characters; {{ counts as ten` }],
  );

const findTemplateProblems = (check: CheckFields, { variables }: ReferenceableNames): readonly Problem[] =>
  listCheckTexts(check).flatMap(({ path, text }) =>
    parseTemplateUses(text).flatMap((templateUse) => {
      if (typeof templateUse === 'string') return [{ path, message: templateUse }];
      const isVariable = templateUse.kind === 'variables' || templateUse.kind === 'code';
      return isVariable && !variables.has(templateUse.name)
        ? [{ path, message: `the variable ${templateUse.name} does not exist` }]
        : [];
    }),
  );

/** Returns whether a secret is bound to a host: the exact name, or a subdomain of `*.`. */
export const isBoundTo = (hosts: readonly string[], host: string): boolean =>
  hosts.some((boundHost) => boundHost === host || (boundHost.startsWith('*.') && host.endsWith(boundHost.slice(1))));

/** Returns problems for secrets that would be sent to hosts to which they are not bound. */
export const findUnboundSecrets = (
  check: CheckFields,
  variables: ReferenceableNames['variables'],
): readonly Problem[] =>
  listTargets(check).flatMap(({ host, texts }) =>
    texts.flatMap(({ path, text }) =>
      findVariables(text).flatMap((name) => {
        const hosts = variables.get(name);
        if (hosts === undefined || (host !== undefined && isBoundTo(hosts, host))) return [];
        const destination = host === undefined ? 'a host that is known only at run time' : host;
        return [
          { path, message: `would send the secret ${name} to ${destination}; it is bound to ${hosts.join(', ')}` },
        ];
      }),
    ),
  );

/** Returns the problems of a check, each with its path; empty if it can be run. */
export const findCheckProblems = (check: CheckFields, names: ReferenceableNames): readonly Problem[] => {
  const basicProblems = [...findSettingsProblems(check), ...findRunProblems(check, names)];
  if (findSettingsProblems(check).length > 0) return basicProblems;
  const { type, settings } = getTypedSettings(check);
  return [
    ...basicProblems,
    ...prefixPaths(check.type, type.problems(settings, check)),
    ...findLabelProblems(check),
    ...findTemplateProblems(check, names),
    ...findUnboundSecrets(check, names.variables),
  ];
};
