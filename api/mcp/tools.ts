/** The tools of the MCP server. A tool is an entry here; rights, validation and parameters are those of its operation. */
import { z } from 'zod';
import type { Json, ToolArguments, ToolDefinition } from './tool.ts';
import { buildTraceTree } from './trace-tree.ts';

const hourSeconds = 3600;
const maxPoints = 30;

/** Reads of telemetry cover the whole organization, unless a call names a project. */
const inScope = (toolArguments: ToolArguments): ToolArguments =>
  toolArguments['projectId'] === undefined ? { scope: 'account' } : {};

const withLimit =
  (limit: number) =>
  (toolArguments: ToolArguments): ToolArguments => ({ ...inScope(toolArguments), limit });

const onlyLimit = (limit: number) => (): ToolArguments => ({ limit });

/** Returns a path of the page with the arguments that the area has as parameters. */
const toArea =
  (path: string, names: readonly string[] = []) =>
  (toolArguments: ToolArguments): string => {
    const parameters = new URLSearchParams();
    for (const name of ['from', 'to', ...names]) {
      const value = toolArguments[name];
      if (value !== undefined) parameters.set(name, String(value));
    }
    return parameters.size === 0 ? path : `${path}?${parameters}`;
  };

const toItem =
  (path: string, name: string) =>
  (toolArguments: ToolArguments): string =>
    `${path}/${encodeURIComponent(String(toolArguments[name]))}`;

const pick = (value: unknown, names: readonly string[]): Json =>
  Object.fromEntries(
    names.flatMap((name) => {
      const property = (value as Json | undefined)?.[name];
      return property === undefined ? [] : [[name, property]];
    }),
  );

const listItems = (response: Json): readonly Json[] => (response['items'] as readonly Json[] | undefined) ?? [];

const pickItems =
  (names: readonly string[]) =>
  (response: Json): Json => ({ ...response, items: listItems(response).map((item) => pick(item, names)) });

const logNames = ['id', 'timestamp', 'severity', 'service', 'body', 'attributes', 'traceId', 'spanId', 'fields'];

const summarizeTrace = (response: Json): Json => ({
  ...pick(response, ['traceId', 'startTime', 'durationNs', 'spanCount', 'errorCount', 'services', 'repeatedCalls']),
  tree: buildTraceTree(response['spans'] as Parameters<typeof buildTraceTree>[0]),
  nextCursor: response['nextCursor'],
  partial: response['partial'],
});

const toSeconds = (value: unknown): number => {
  const text = String(value);
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000;
};

/** The last hour in 30 steps, or the given range in as many */
const givePromqlRange = (toolArguments: ToolArguments, nowMs: number): ToolArguments => {
  const end = toolArguments['end'] ?? String(Math.floor(nowMs / 1000));
  const start = toolArguments['start'] ?? String(toSeconds(end) - hourSeconds);
  const step = Math.max(1, Math.ceil((toSeconds(end) - toSeconds(start)) / maxPoints));
  return { start, end, step: String(Number.isFinite(step) ? step : 1) };
};

const DashboardInput = z.strictObject({
  name: z.string().min(1).max(200),
  description: z.string().max(1000).optional(),
  tags: z.array(z.string()).optional(),
  panels: z
    .array(
      z.strictObject({
        title: z.string().max(200),
        promql: z.string().max(4000).describe('PromQL expression of the panel'),
        visual: z.enum(['time-series', 'stat', 'table', 'bar-gauge']).default('time-series'),
      }),
    )
    .min(1)
    .max(30),
});

const toDashboard = (toolArguments: ToolArguments): unknown => {
  const parsed = DashboardInput.safeParse(toolArguments);
  // The operation reports what is wrong with the other fields.
  if (!parsed.success) return toolArguments;
  const { panels, ...dashboard } = parsed.data;
  return {
    ...dashboard,
    panels: panels.map(({ title, promql, visual }, index) => ({
      id: `panel-${index + 1}`,
      title,
      visual: { kind: visual },
      place: { width: 12, height: 8 },
      queries: [{ name: 'A', query: { kind: 'promql', expression: promql } }],
    })),
  };
};

export const toolDefinitions: readonly ToolDefinition[] = [
  {
    name: 'get_overview',
    title: 'Overview',
    description:
      'Numbers of the whole system compared with the previous range, and what needs attention: firing alerts, errors, anomalies, degraded services. Start here.',
    operationId: 'showOverview',
    defaults: inScope,
    getPath: toArea('/overview'),
  },
  {
    name: 'search_logs',
    title: 'Search logs',
    description:
      'Log records, newest first. The parameter search takes the search language (resource oiq://search-language).',
    operationId: 'listLogs',
    defaults: withLimit(20),
    summarize: pickItems(logNames),
    getPath: toArea('/logs', ['search', 'service']),
  },
  {
    name: 'count_logs',
    title: 'Count logs',
    description: 'Counts or other statistics of log records, by fields and over time, such as errors by service.',
    operationId: 'aggregateLogs',
    defaults: withLimit(20),
    getPath: toArea('/logs', ['search', 'service']),
  },
  {
    name: 'search_traces',
    title: 'Search traces',
    description: 'Traces by service, status, duration or fields of spans, newest first.',
    operationId: 'listTraces',
    defaults: withLimit(20),
    getPath: toArea('/traces', ['search', 'service', 'status']),
  },
  {
    name: 'get_trace',
    title: 'Trace',
    description:
      'One trace as a tree of spans with durations, errors and repeated calls, and the share of each service in the critical path.',
    operationId: 'getTrace',
    defaults: inScope,
    summarize: summarizeTrace,
    getPath: toItem('/traces', 'id'),
  },
  {
    name: 'get_trace_logs',
    title: 'Logs of a trace',
    description: 'Log records of a trace, or of one of its spans, in the order of time.',
    operationId: 'listTraceLogs',
    defaults: withLimit(20),
    summarize: pickItems(logNames),
    getPath: toItem('/traces', 'id'),
  },
  {
    name: 'search_errors',
    title: 'Search errors',
    description: 'Error groups with count, first and last time, services and whether they are new or regressed.',
    operationId: 'listErrors',
    defaults: withLimit(10),
    summarize: pickItems([
      ...['id', 'type', 'message', 'culprit', 'count', 'firstSeen', 'lastSeen', 'services', 'environments'],
      ...['status', 'isRegressed', 'isNew'],
    ]),
    getPath: toArea('/errors', ['search', 'service']),
  },
  {
    name: 'get_error',
    title: 'Error',
    description: 'One error group with its newest occurrence, stack trace, tags and trend.',
    operationId: 'getError',
    defaults: inScope,
    getPath: toItem('/errors', 'id'),
  },
  {
    name: 'list_metrics',
    title: 'List metrics',
    description: 'Names of metrics with type, unit and description. Use the names in query_metrics.',
    operationId: 'listMetrics',
    defaults: withLimit(30),
    getPath: toArea('/explore-metrics'),
  },
  {
    name: 'query_metrics',
    title: 'Query metrics',
    description:
      'Evaluates PromQL over a range (start, end: Unix seconds or RFC 3339; default: the last hour, 30 points). OpenTelemetry names have underscores, as in Prometheus.',
    operationId: 'queryPrometheusRange',
    parameters: ['query', 'start', 'end', 'step', 'limit', 'projectId'],
    defaults: givePromqlRange,
    getPath: ({ query }) => `/explore-metrics?${new URLSearchParams({ promql: String(query) })}`,
  },
  {
    name: 'query_metrics_now',
    title: 'Query current metrics',
    description: 'Evaluates PromQL at one time: the current value of each series.',
    operationId: 'queryPrometheus',
    parameters: ['query', 'time', 'limit', 'projectId'],
    getPath: ({ query }) => `/explore-metrics?${new URLSearchParams({ promql: String(query) })}`,
  },
  {
    name: 'list_services',
    title: 'List services',
    description: 'Services with request rate, error rate, latency (p50, p95, p99), Apdex and versions.',
    operationId: 'listServices',
    defaults: withLimit(20),
    getPath: toArea('/services', ['search']),
  },
  {
    name: 'get_service',
    title: 'Service',
    description: 'One service: rate, errors and latency, its operations, dependencies, instances and versions.',
    operationId: 'showService',
    defaults: inScope,
    getPath: toItem('/services', 'name'),
  },
  {
    name: 'list_deployments',
    title: 'List deployments',
    description: 'Deployments with service, version and time, newest first.',
    operationId: 'listDeployments',
    defaults: withLimit(20),
    getPath: toArea('/events'),
  },
  {
    name: 'list_alerts',
    title: 'List alerts',
    description: 'Alerts with state, value, reason, labels and annotations. state=firing lists those that fire now.',
    operationId: 'listAlerts',
    defaults: onlyLimit(20),
    getPath: toArea('/alerts'),
  },
  {
    name: 'list_incidents',
    title: 'List incidents',
    description: 'Incidents with severity, status, services and alerts.',
    operationId: 'listIncidents',
    defaults: onlyLimit(10),
    getPath: toArea('/incidents'),
  },
  {
    name: 'get_incident_timeline',
    title: 'Timeline of an incident',
    description: 'What happened in an incident: alerts, notifications, notes and changes, in the order of time.',
    operationId: 'getIncidentTimeline',
    defaults: onlyLimit(50),
    getPath: toItem('/incidents', 'id'),
  },
  {
    name: 'find_root_cause',
    title: 'Find root cause',
    description:
      'Ranks the causes of an alert, an anomaly, an incident or a degraded service, each with evidence and counterevidence.',
    operationId: 'findRootCause',
    defaults: inScope,
    getPath: ({ service }) => (service === undefined ? undefined : `/services/${encodeURIComponent(String(service))}`),
  },
  {
    name: 'list_anomalies',
    title: 'List anomalies',
    description: 'Anomalies that detectors found, with the value, the usual range and the time.',
    operationId: 'listAnomalies',
    defaults: withLimit(20),
    getPath: toArea('/anomalies'),
  },
  {
    name: 'ask',
    title: 'Ask',
    description: 'Answers a question in plain language about logs, traces or metrics, and shows how it was understood.',
    operationId: 'askInWords',
    getPath: ({ question }) => `/ask?${new URLSearchParams({ question: String(question) })}`,
  },
  {
    name: 'search_runbooks',
    title: 'Search runbooks',
    description: 'Passages of runbooks, past incidents and rules that concern a problem.',
    operationId: 'searchRunbooks',
    defaults: onlyLimit(5),
  },
  {
    name: 'list_slos',
    title: 'List SLOs',
    description: 'Service level objectives with target and window. get_slo_status has the budget of one.',
    operationId: 'listServiceLevelObjectives',
    defaults: onlyLimit(20),
    getPath: toArea('/slos'),
  },
  {
    name: 'get_slo_status',
    title: 'Status of an SLO',
    description: 'SLI, error budget and burn rates of one service level objective.',
    operationId: 'getSloStatus',
    getPath: toItem('/slos', 'id'),
  },
  {
    name: 'list_dashboards',
    title: 'List dashboards',
    description: 'Dashboards with name, folder and tags.',
    operationId: 'listDashboards',
    defaults: onlyLimit(20),
    getPath: toArea('/dashboards'),
  },
  {
    name: 'get_dashboard',
    title: 'Dashboard',
    description: 'One dashboard with its variables, panels and their queries.',
    operationId: 'getDashboard',
    getPath: toItem('/dashboards', 'id'),
  },
  {
    name: 'create_dashboard',
    title: 'Create a dashboard',
    description: 'Creates a dashboard of PromQL panels and returns its id and address.',
    operationId: 'createDashboard',
    parameters: ['name', 'description', 'tags', 'panels'],
    input: { schema: DashboardInput, toBody: toDashboard },
    summarize: (response) => pick(response, ['id', 'name', 'version']),
    getPath: (_, { id }) => `/dashboards/${encodeURIComponent(String(id))}`,
  },
  {
    name: 'add_incident_note',
    title: 'Add a note to an incident',
    description: 'Adds a note to the timeline of an incident.',
    operationId: 'addIncidentNote',
    getPath: toItem('/incidents', 'id'),
  },
];
