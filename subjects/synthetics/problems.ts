/** Problems of a check that prevent its execution, beyond its schema */
import { durationText, msOf } from '../alerts/durations.ts';
import { maxLabelLength, plain } from '../alerts/plain.ts';
import type { Problem } from './assertions.ts';
import { type CheckFields, localLocation, targetsOf, textsOf, typedSettings } from './check.ts';
import { checkTypeOf, checkTypes } from './registry.ts';
import { templateUses, variablesIn } from './templates.ts';
import { problemsAt } from './types/definition.ts';

/** Names that a check may reference */
export interface Known {
  readonly locations: ReadonlySet<string>;
  /** Hosts to which a secret is bound; `undefined` for a variable that is not a secret */
  readonly variables: ReadonlyMap<string, readonly string[] | undefined>;
}

const settingsProblems = (check: CheckFields): readonly Problem[] =>
  checkTypes.flatMap(({ type }) => {
    const isGiven = check[type as CheckFields['type']] !== undefined;
    if (type === check.type) return isGiven ? [] : [{ path: type, message: `is required for the type ${type}` }];
    return isGiven ? [{ path: type, message: `must not be set for the type ${check.type}` }] : [];
  });

const timeProblems = ({ type, every, timeout, retries }: CheckFields): readonly Problem[] => {
  const maxRunMs = msOf(timeout) * (retries.count + 1) + msOf(retries.wait) * retries.count;
  const { minEvery = '0s' } = checkTypeOf(type);
  if (msOf(every) < msOf(minEvery))
    return [{ path: 'every', message: `must be at least ${minEvery} for the type ${type}` }];
  if (msOf(timeout) > msOf(every)) return [{ path: 'timeout', message: `must be at most the interval of ${every}` }];
  return maxRunMs > msOf(every) * 3
    ? [
        {
          path: 'retries',
          message: `may take ${durationText(maxRunMs)} with all attempts, which is more than three intervals of ${every}`,
        },
      ]
    : [];
};

const locationProblems = ({ locations, consensus }: CheckFields, known: Known): readonly Problem[] => [
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

const runProblems = (check: CheckFields, known: Known): readonly Problem[] => {
  if (checkTypeOf(check.type).isPassive !== true) return [...timeProblems(check), ...locationProblems(check, known)];
  return check.locations.length > 0
    ? [{ path: 'locations', message: `must not be set for the type ${check.type}: no location runs it` }]
    : [];
};

const labelProblems = ({ labels }: CheckFields): readonly Problem[] =>
  Object.entries(labels).flatMap(([name, text]) =>
    plain(text).length <= maxLabelLength
      ? []
      : [{ path: `labels.${name}`, message: `must have at most ${maxLabelLength} characters; {{ counts as ten` }],
  );

const templateProblems = (check: CheckFields, { variables }: Known): readonly Problem[] =>
  textsOf(check).flatMap(({ path, text }) =>
    templateUses(text).flatMap((use) => {
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
export const unboundSecretProblems = (check: CheckFields, variables: Known['variables']): readonly Problem[] =>
  targetsOf(check).flatMap(({ host, texts }) =>
    texts.flatMap(({ path, text }) =>
      variablesIn(text).flatMap((name) => {
        const hosts = variables.get(name);
        if (hosts === undefined || (host !== undefined && isBoundTo(hosts, host))) return [];
        const where = host === undefined ? 'a host that is known only at run time' : host;
        return [{ path, message: `would send the secret ${name} to ${where}; it is bound to ${hosts.join(', ')}` }];
      }),
    ),
  );

/** Returns the problems of a check, each with its path; empty if it can be run. */
export const checkProblems = (check: CheckFields, known: Known): readonly Problem[] => {
  const form = [...settingsProblems(check), ...runProblems(check, known)];
  if (settingsProblems(check).length > 0) return form;
  const { type, settings } = typedSettings(check);
  return [
    ...form,
    ...problemsAt(check.type, type.problems(settings, check)),
    ...labelProblems(check),
    ...templateProblems(check, known),
    ...unboundSecretProblems(check, known.variables),
  ];
};
