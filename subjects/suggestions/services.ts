/** Services whose failures trigger no alert */
import type { Suggestion } from './suggestion.ts';

export interface ServiceActivity {
  readonly name: string;
  /** Requests of the last day; 0 if it serves none */
  readonly requests: number;
  /** Number of these requests that failed */
  readonly failed: number;
  /** Error records of the last day */
  readonly errorLogs: number;
}

/** Existing coverage of services: queries of rules and SLOs, as JSON */
export interface ServiceCoverage {
  /** Services of enabled SLOs */
  readonly objectives: readonly { readonly service: string; readonly query: unknown }[];
  readonly rules: readonly { readonly query: unknown }[];
}

const minRequests = 1_000;
const minErrors = 20;
const windowMinutes = 5;
const targets = [99.9, 99.5, 99, 95, 90] as const;

const serviceFields = ['service', 'service.name', 'resource.service.name', 'service_name'];

/** Returns the labels in parentheses after each `by` of PromQL. */
const findGroupLabels = (expression: string): string[] =>
  expression.split(/\bby\b/).flatMap((rest, index) => {
    const text = rest.trimStart();
    return index > 0 && text.startsWith('(')
      ? text
          .slice(1)
          .split(')', 1)
          .flatMap((value) => value.split(/[\s,]+/))
      : [];
  });

/** Returns whether a query names the service, or groups by service. */
const coversService = (query: unknown, service: string): boolean => {
  const groupFields: string[] = [];
  const text =
    JSON.stringify(query, (key, value: unknown) => {
      if (key === 'groupBy' && Array.isArray(value)) groupFields.push(...value.map(String));
      if (key === 'expression' && typeof value === 'string') groupFields.push(...findGroupLabels(value));
      return value;
    }) ?? '';
  if (groupFields.some((name) => serviceFields.includes(name))) return true;
  return text.includes('service') && text.includes(JSON.stringify(service).slice(1, -1));
};

const formatPercent = (share: number): string => `${Number((100 * share).toFixed(3))} %`;

const suggestSlo = ({ name, requests, failed }: ServiceActivity): Suggestion => {
  const successShare = 1 - failed / requests;
  const targetPct = targets.find((target) => 100 * successShare >= target) ?? targets[targets.length - 1];
  const body = { name: `${name} answers`, targetPct, windowDays: 30, type: 'availability', service: name };
  return {
    kind: 'slo',
    subject: name,
    title: `Create an SLO for ${name}`,
    weight: requests,
    evidence: `${name} served ${requests} requests in the last day, ${formatPercent(successShare)} of them without an error, and no SLO or alert covers it`,
    effect: `an availability of ${targetPct} % over 30 days is measured, and alerts fire if its error budget burns too fast`,
    request: { method: 'POST', path: '/api/slos', body },
  };
};

/** Rounds up to two digits. */
const roundUp = (value: number): number => {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / unit) * unit;
};

const suggestAlert = ({ name, errorLogs }: ServiceActivity): Suggestion => {
  const expectedPerWindow = errorLogs / ((24 * 60) / windowMinutes);
  const value = roundUp(Math.max(10, 10 * expectedPerWindow));
  const body = {
    name: `Error logs of ${name}`,
    description: 'More than ten times the typical number of error records',
    condition: {
      kind: 'threshold',
      query: {
        kind: 'aggregate',
        signal: 'logs',
        search: `service:${JSON.stringify(name)} severity:>=error`,
        measures: [{ function: 'count' }],
      },
      window: `${windowMinutes}m`,
      thresholds: [{ severity: 'error', operator: 'above', value }],
    },
  };
  return {
    kind: 'alert',
    subject: name,
    title: `Alert on errors of ${name}`,
    weight: errorLogs,
    evidence: `${name} wrote ${errorLogs} error records in the last day (${Number(expectedPerWindow.toFixed(1))} in ${windowMinutes} minutes), and no SLO or alert covers it`,
    effect: `an alert fires if there are more than ${value} in ${windowMinutes} minutes`,
    request: { method: 'POST', path: '/api/v2/alerts/rules', body },
  };
};

/**
 * Returns suggestions: an SLO for services that serve requests, and an alert for services that write errors. The
 * busiest services come first.
 */
export const suggestForServices = (
  services: readonly ServiceActivity[],
  { objectives, rules }: ServiceCoverage,
): Suggestion[] => {
  const isCovered = ({ name }: ServiceActivity): boolean =>
    objectives.some(({ service, query }) => service === name || coversService(query, name)) ||
    rules.some(({ query }) => coversService(query, name));
  return services
    .filter((service) => !isCovered(service))
    .sort((left, right) => right.requests - left.requests || right.errorLogs - left.errorLogs)
    .flatMap((service) => {
      if (service.requests >= minRequests) return [suggestSlo(service)];
      return service.errorLogs >= minErrors ? [suggestAlert(service)] : [];
    });
};
