/** Problems of a check that prevent its execution, beyond its schema */
import { formatDuration, parseDurationMs } from '../alerts/durations.ts';
import { escapeTemplate, maxLabelLength } from '../alerts/plain.ts';
import type { Problem } from './assertions.ts';
import { type CheckFields, listTargets, localLocation, textsOf, typedSettings } from './check.ts';
import { checkTypes, getCheckType } from './registry.ts';
import { findVariables, parseTemplateUses } from './templates.ts';
import { prefixPaths } from './types/definition.ts';

/** Names that a check may reference */
export interface KnownNames {
  readonly locations: ReadonlySet<string>;
  /** Hosts to which a secret is bound; `undefined` for a variable that is not a secret */
  readonly variables: ReadonlyMap<string, readonly string[] | undefined>;
}

const findSettingsProblems = (check: CheckFields): readonly Problem[] =>
  checkTypes.flatMap(({ type }) => {
    const isGiven = check[type as CheckFields['type']] !== undefined;
    if (type === check.type) return isGiven ? [] : [{ path: type, message: `is required for the type ${type}` }];
    return isGiven ? [{ path: type, message: `must not be set for the type ${check.type}` }] : [];
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

const findLocationProblems = ({ locations, consensus }: CheckFields, known: KnownNames): readonly Problem[] => [
  ...(locations.length === 0 ? [{ path: 'locations', message: 'must contain at least one location' }] : []),
  ...locations.flatMap((location, index) => {
    const path = `locations.${index}`;
    if (locations.indexOf(location) !== index) return [{ path, message: 'is repeated' }];
    return location === localLocation || known.locations.has(location)
      ? []
      : [{ path, message: `the location ${location} does not exist` }];
  }),
  ...(locations.length > 0 && consensus.down !== null && consensus.down > locations.length
    ? [{ path: 'consensus.down', message: `must be at most ${locations.length}, the number of locations` }]
    : []),
];

const findRunProblems = (check: CheckFields, known: KnownNames): readonly Problem[] => {
  if (getCheckType(check.type).isPassive !== true)
    return [...findTimeProblems(check), ...findLocationProblems(check, known)];
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

const findTemplateProblems = (check: CheckFields, { variables }: KnownNames): readonly Problem[] =>
  textsOf(check).flatMap(({ path, text }) =>
    parseTemplateUses(text).flatMap((use) => {
      if (typeof use === 'string') return [{ path, message: use }];
      const isVariable = use.kind === 'variables' || use.kind === 'code';
      return isVariable && !variables.has(use.name)
        ? [{ path, message: `the variable ${use.name} does not exist` }]
        : [];
    }),
  );

/** Returns whether a secret is bound to a host: the exact name, or a subdomain of `*.`. */
export const isBoundTo = (hosts: readonly string[], host: string): boolean =>
  hosts.some((bound) => bound === host || (bound.startsWith('*.') && host.endsWith(bound.slice(1))));

/** Returns problems for secrets that would be sent to hosts to which they are not bound. */
export const findUnboundSecrets = (check: CheckFields, variables: KnownNames['variables']): readonly Problem[] =>
  listTargets(check).flatMap(({ host, texts }) =>
    texts.flatMap(({ path, text }) =>
      findVariables(text).flatMap((name) => {
        const hosts = variables.get(name);
        if (hosts === undefined || (host !== undefined && isBoundTo(hosts, host))) return [];
        const where = host === undefined ? 'a host that is known only at run time' : host;
        return [{ path, message: `would send the secret ${name} to ${where}; it is bound to ${hosts.join(', ')}` }];
      }),
    ),
  );

/** Returns the problems of a check, each with its path; empty if it can be run. */
export const findCheckProblems = (check: CheckFields, known: KnownNames): readonly Problem[] => {
  const form = [...findSettingsProblems(check), ...findRunProblems(check, known)];
  if (findSettingsProblems(check).length > 0) return form;
  const { type, settings } = typedSettings(check);
  return [
    ...form,
    ...prefixPaths(check.type, type.problems(settings, check)),
    ...findLabelProblems(check),
    ...findTemplateProblems(check, known),
    ...findUnboundSecrets(check, known.variables),
  ];
};
