/**
 * Requests to each operation in the tests that run over all operations, where they cannot be derived: path parameters
 * come from the POST on the parent path, resource bodies from their example with unique names, and other bodies from
 * their schema. An operation that does not return 200 with these needs an entry here, or a reason in `unshown`.
 */
import { emptyQuota } from '../../schemas/resources/quota.ts';
import { reports } from '../cases/vulnerabilities/reports.ts';
import { auditExamples } from './audit-examples.ts';
import type { Example, OperationRequest } from './example.ts';
import { identityExamples } from './identity-examples.ts';
import { peopleExamples } from './people-examples.ts';
import {
  agentIdOf,
  anomalyIdOf,
  canaryOf,
  deadLetterIdOf,
  deadLetterToDiscardOf,
  errorIdOf,
  llmRequestIdOf,
  otherErrorIdOf,
  patternIdOf,
  secretIdOf,
  signalIdOf,
  threatIdOf,
  traceIdOf,
} from './telemetry.ts';
import { firingAlert } from './telemetry-alerts.ts';
import { hostIdOf, podUidOf } from './telemetry-hosts.ts';

/** A request for a dashboard that was just read. */
const ofDashboard = (
  { id, version }: { readonly id: string; readonly version: number },
  params: Readonly<Record<string, string>>,
  body?: unknown,
): OperationRequest => ({
  params: { id, ...params },
  ...(body === undefined ? {} : { body }),
  headers: { 'if-match': `"${version}"` },
});

/** A request for a built-in template. */
const ofTemplate = (body?: object): OperationRequest => ({
  params: { id: 'hosts' },
  ...(body === undefined ? {} : { body }),
});

export const examples: Readonly<Record<string, Example>> = {
  ...identityExamples,
  ...peopleExamples,
  ...auditExamples,

  getInstrumentationAgent: async ({ make }) => ({
    params: { id: (await make('listInstrumentationAgents')).items[0].id },
  }),
  getLog: async ({ make }) => ({ params: { id: (await make('listLogs')).items[0].id } }),
  getLogContext: async ({ make }) => ({ params: { id: (await make('listLogs')).items[0].id } }),
  listLogFieldValues: { params: { name: 'key' } },
  getLogPattern: ({ tenant }) => ({ params: { id: patternIdOf(tenant) } }),
  // Configuration changes of other tests would be listed before the seeded events.
  listEvents: { query: { kinds: 'custom,deployment' } },
  deleteThreatIndicator: async ({ make }) => {
    await make('addThreatIndicators');
    return { params: { id: (await make('listThreatIndicators')).items[0].id } };
  },
  importDetectionRules: () => ({
    body: {
      files: [
        {
          source: [
            `title: Imported ${Math.random()}`,
            'logsource: { product: linux }',
            'detection: { selection: { User: root }, condition: selection }',
          ].join('\n'),
        },
      ],
    },
  }),
  showAnomaly: ({ tenant }) => ({ params: { id: anomalyIdOf(tenant) } }),
  markAnomaly: ({ tenant }) => ({ params: { id: anomalyIdOf(tenant) }, body: { verdict: 'true' } }),
  getSignal: ({ tenant }) => ({ params: { id: signalIdOf(tenant) } }),
  getSiemEntity: ({ tenant }) => ({ params: { type: 'host', value: canaryOf(tenant) } }),
  previewDetectionRuleException: async ({ make }) => ({
    params: { id: (await make('createDetectionRule')).id },
    body: { when: { User: 'svc_backup' } },
  }),
  deleteFileBaseline: async ({ make }) => {
    const { id, version } = await make('takeFileBaseline');
    return { params: { id }, headers: { 'if-match': `"${version}"` } };
  },
  importVulnerabilities: { body: reports.trivy },
  triageVulnerability: async ({ make }) => {
    await make('importVulnerabilities');
    return { params: { id: (await make('listVulnerabilities')).items[0].id }, body: { state: 'resolved' } };
  },
  triageThreat: ({ tenant }) => ({ params: { id: threatIdOf(tenant) }, body: { state: 'resolved' } }),
  triageSecret: ({ tenant }) => ({ params: { id: secretIdOf(tenant) }, body: { state: 'resolved' } }),
  triageSignal: ({ tenant }) => ({ params: { id: signalIdOf(tenant) }, body: { state: 'acknowledged' } }),
  validateDetectionRules: { body: { source: 'title: Nothing\nlogsource: { product: linux }' } },
  createSyntheticDowntime: () => ({
    body: {
      name: `downtime ${Math.random()}`,
      timeZone: 'UTC',
      startsAt: '2026-01-04T22:00',
      durationMinutes: 60,
      labels: { team: 'shop' },
    },
  }),
  renewSyntheticHeartbeatToken: async ({ make }) => {
    const body = { name: `job ${Math.random()}`, type: 'heartbeat', heartbeat: {} };
    return { params: { id: (await make('createSyntheticCheck', { body })).id } };
  },
  createSyntheticLocation: () => ({ body: { name: `location ${Math.random()}` } }),
  importSyntheticChecks: () => ({
    body: { source: `name: check ${Math.random()}\ntype: tcp\ntcp: { host: shop.example.com, port: 443 }` },
  }),
  trySyntheticCheck: {
    body: { check: { name: 'try', type: 'tcp', locations: ['local'], tcp: { host: 'shop.example.com', port: 443 } } },
  },
  getSyntheticProbeWork: async ({ make }) => ({
    body: { probe: 'p1' },
    token: (await make('createSyntheticLocation')).token,
  }),
  sendSyntheticProbeResults: async ({ make }) => ({
    body: { results: [] },
    token: (await make('createSyntheticLocation')).token,
  }),
  sendSyntheticProbePicture: async ({ make }) => ({
    body: { checkId: 'none', dueMs: 0, startedAtMs: 0, outcome: 'passed', content: '/9j/' },
    token: (await make('createSyntheticLocation')).token,
  }),
  setSyntheticVariable: { params: { name: 'shop' }, body: { value: 'shop.example' } },
  deleteSyntheticVariable: async ({ make }) => {
    await make('setSyntheticVariable');
    return { params: { name: 'shop' } };
  },
  setIncidentPostmortem: async ({ make }) => ({
    params: { id: (await make('createIncident')).id },
    body: { impact: 'no orders' },
    headers: { 'if-match': '"0"' },
  }),
  reopenIncident: async ({ make }) => ({ params: { id: (await make('resolveIncident')).id } }),
  setAlertRouting: async ({ harness, token }) => {
    const { headers } = await harness.request('GET', '/api/v2/alerts/routing', { as: `token ${token}` });
    return {
      body: { route: { receiver: 'default' }, receivers: [{ name: 'default', channelIds: [] }] },
      headers: { 'if-match': headers.get('etag') ?? '' },
    };
  },
  importAlertRouting: { body: { yaml: 'route:\n  receiver: default\nreceivers:\n  - name: default\n' } },
  addThreatIndicators: { body: { indicators: [{ type: 'domain', value: 'evil.example' }] } },
  importDashboard: () => ({ body: { title: `Imported ${Math.random()}`, panels: [], schemaVersion: 39 } }),
  addPanel: async ({ make }) => ofDashboard(await make('createDashboard'), {}, { id: 'new', visual: { kind: 'text' } }),
  replacePanel: async ({ make }) =>
    ofDashboard(await make('createDashboard'), { panelId: 'errors' }, { visual: { kind: 'text' } }),
  removePanel: async ({ make }) => ofDashboard(await make('createDashboard'), { panelId: 'errors' }),
  createDashboardSnapshot: async ({ make }) => ({ params: { id: (await make('createDashboard')).id }, body: {} }),
  revokeDashboardSnapshot: async ({ make }) => ({ params: { id: (await make('createDashboardSnapshot')).id } }),
  getSharedSnapshot: async ({ make }) => ({ params: { token: (await make('createDashboardSnapshot')).token } }),
  queryDashboard: async ({ make, tenant }) => ({
    params: { id: (await make('createDashboard')).id },
    body: {
      draft: {
        name: 'Draft',
        panels: [
          {
            id: 'one',
            visual: { kind: 'table' },
            queries: [{ name: 'A', query: { kind: 'rows', signal: 'logs' } }],
          },
          {
            id: 'two',
            visual: { kind: 'stat' },
            queries: [
              {
                name: 'A',
                query: { kind: 'metric', metric: `${canaryOf(tenant)}.metric`, overTime: 'last', across: 'none' },
              },
            ],
          },
        ],
        annotations: [{ name: 'events', source: { kind: 'events' } }],
      },
    },
  }),
  getDashboardVersion: async ({ make }) => ofDashboard(await make('createDashboard'), { version: '1' }),
  restoreDashboardVersion: async ({ make }) => {
    const created = await make('createDashboard');
    await make('removePanel', ofDashboard(created, { panelId: 'errors' }));
    return ofDashboard({ ...created, version: 2 }, { version: '1' });
  },
  getTemplate: ofTemplate(),
  instantiateTemplate: ofTemplate({}),
  markTemplate: ofTemplate(),
  unmarkTemplate: async ({ make }) => {
    await make('markTemplate');
    return ofTemplate();
  },
  listTraces: { query: { scope: 'account' } },
  compareTraces: { query: { scope: 'account', status: 'error' } },
  setServiceSettings: { body: { apdexThresholdMs: 250 } },
  listServices: { query: { scope: 'account' } },
  listDeployments: { query: { scope: 'account' } },
  showService: ({ tenant }) => ({ params: { name: canaryOf(tenant) }, query: { scope: 'account' } }),
  getServiceTimeseries: ({ tenant }) => ({ params: { name: canaryOf(tenant) }, query: { scope: 'account' } }),
  listServiceDeployments: ({ tenant }) => ({ params: { name: canaryOf(tenant) }, query: { scope: 'account' } }),
  listServiceEndpoints: ({ tenant }) => ({ params: { name: canaryOf(tenant) }, query: { scope: 'account' } }),
  listDependencies: { query: { scope: 'account' } },
  showServiceMap: { query: { scope: 'account' } },
  getTrace: ({ tenant }) => ({ params: { id: traceIdOf(tenant) }, query: { scope: 'account' } }),
  listTraceLogs: ({ tenant }) => ({ params: { id: traceIdOf(tenant) } }),

  showMetric: ({ tenant }) => ({ params: { name: `${canaryOf(tenant)}.metric` } }),
  listMetricLabelValues: ({ tenant }) => ({ params: { name: `${canaryOf(tenant)}.metric`, label: 'key' } }),
  queryMetrics: ({ tenant }) => ({
    body: {
      queries: { a: { kind: 'metric', metric: `${canaryOf(tenant)}.metric`, overTime: 'last', across: 'none' } },
    },
  }),
  detectAnomalies: {
    body: {
      series: [
        {
          points: [
            [0, 1],
            [60_000, 2],
          ],
        },
      ],
    },
  },
  forecastSeries: {
    body: { series: [{ points: Array.from({ length: 48 }, (_, hour) => [hour * 3_600_000, hour % 24]) }] },
  },
  findRootCause: ({ tenant }) => ({ body: { service: canaryOf(tenant) } }),
  addRunbookDocument: ({ tenant }) => ({
    body: { content: `# Orders of ${tenant}\n\nRestart the worker. Run ${Math.random()}.` },
  }),
  deleteRunbookDocument: async ({ make }) => ({ params: { id: (await make('addRunbookDocument')).document.id } }),
  searchRunbooks: { body: { query: 'restart the worker' } },
  answerFromRunbooks: { body: { question: 'when do I restart the worker?' } },
  ...Object.fromEntries(
    ['applySuggestion', 'dismissSuggestion'].map((name): [string, Example] => [
      name,
      async ({ make }) => {
        const { items } = await make('listSuggestions');
        return { params: { id: items.find(({ kind }: { readonly kind: string }) => kind === 'detector').id } };
      },
    ]),
  ),
  askInWords: { body: { question: 'how many logs per minute' } },
  showCardinality: ({ tenant }) => ({ query: { metric: `${canaryOf(tenant)}.metric` } }),
  listExemplars: ({ tenant }) => ({ query: { metric: `${canaryOf(tenant)}.metric` } }),
  ...Object.fromEntries(
    ['listPrometheusSeries', 'listPrometheusSeriesByForm'].map((name) => [
      name,
      ({ tenant }: { readonly tenant: string }) => ({ query: { 'match[]': `{__name__=~"${canaryOf(tenant)}.*"}` } }),
    ]),
  ),
  queryPrometheus: { query: { query: 'up' } },
  queryPrometheusByForm: { query: { query: 'up' } },
  queryPrometheusRange: { query: { query: 'up', start: '0', end: '60', step: '10' } },
  queryPrometheusRangeByForm: { query: { query: 'up', start: '0', end: '60', step: '10' } },
  listPrometheusLabelValues: { params: { name: '__name__' } },
  listPrometheusExemplars: { query: { query: 'up' } },
  listPrometheusExemplarsByForm: { query: { query: 'up' } },
  formatPromqlByForm: { query: { query: 'sum(up)' } },
  parsePromqlByForm: { query: { query: 'sum(up)' } },
  formatPromql: { query: { query: 'sum(up)' } },
  parsePromql: { query: { query: 'sum(up)' } },
  listWebVitals: { query: { groupBy: 'page' } },
  uploadSourceMaps: () => ({
    query: { application: 'shop-web', release: '1.0', file: 'app.js' },
    body: { version: 3, sources: ['a.js'], names: [], mappings: 'AAAA' },
  }),
  getRumSession: ({ tenant }) => ({ params: { id: canaryOf(tenant) } }),
  getRumReplay: ({ tenant }) => ({ params: { id: canaryOf(tenant) } }),
  getError: ({ tenant }) => ({ params: { id: errorIdOf(tenant) } }),
  listErrorOccurrences: ({ tenant }) => ({ params: { id: errorIdOf(tenant) } }),
  changeError: ({ tenant }) => ({
    params: { id: errorIdOf(tenant) },
    body: { status: 'ignored', ignoredUntil: { time: new Date(Date.now() + 86_400_000).toISOString() } },
  }),
  mergeErrors: ({ tenant }) => ({ body: { ids: [errorIdOf(tenant), otherErrorIdOf(tenant)] } }),

  getLlmRequest: ({ tenant }) => ({ params: { id: llmRequestIdOf(tenant) } }),
  getAgent: ({ tenant }) => ({ params: { id: agentIdOf(tenant) } }),
  setLlmPrice: ({ tenant }) => ({
    params: { model: `house-model-of-${tenant}` },
    body: {
      validFrom: '2026-01-01T00:00:00Z',
      perMillion: { input: 1 + Math.floor(Math.random() * 1e6), output: '2.5' },
    },
  }),

  showDatabaseEngine: { params: { engine: 'postgresql' } },
  showDatabaseSeries: { params: { engine: 'postgresql' } },
  getHost: ({ tenant }) => ({ params: { id: hostIdOf(tenant) } }),
  getHostTimeseries: ({ tenant }) => ({ params: { id: hostIdOf(tenant) } }),
  getPod: ({ tenant }) => ({ params: { uid: podUidOf(tenant) } }),

  acknowledgeAlert: async (world) => ({ params: { id: (await firingAlert(world)).alertId }, body: { note: 'on it' } }),
  listAlertRuleEvaluations: async (world) => ({ params: { id: (await firingAlert(world)).ruleId } }),
  listAlertRuleGroups: async (world) => ({ params: { id: (await firingAlert(world)).ruleId } }),
  testAlertRule: async ({ make }) => ({ params: { id: (await make('createAlertRule')).id }, body: {} }),
  startAlertBacktest: async ({ make }) => ({ body: { ruleId: (await make('createAlertRule')).id, from: 'now-1h' } }),
  setSloPolicy: async ({ make }) => ({
    params: { id: (await make('createServiceLevelObjective')).id },
    body: { steps: [{ name: 'freeze', budgetRemainingBelow: 10, freeze: true }] },
  }),
  importSlos: ({ tenant }) => ({
    body: {
      source: `apiVersion: openslo/v1
kind: SLO
metadata: { name: '${tenant}-${Math.random()}' }
spec:
  service: shop
  indicator:
    metadata: { name: requests }
    spec:
      ratioMetric:
        counter: true
        good: { metricSource: { type: prometheus, spec: { query: sum(ok_total) } } }
        total: { metricSource: { type: prometheus, spec: { query: sum(all_total) } } }
  timeWindow: [{ duration: 30d, isRolling: true }]
  budgetingMethod: Occurrences
  objectives: [{ target: 0.99 }]
`,
    },
  }),
  importAlertRules: ({ tenant }) => ({
    body: { file: `groups: [{ name: shop, rules: [{ alert: Down of ${tenant} ${Date.now()}, expr: up == 0 }] }]` },
  }),
  previewAlertRule: {
    body: {
      name: 'Errors',
      condition: {
        kind: 'threshold',
        thresholds: [{ severity: 'error', operator: 'above', value: 0 }],
        query: { kind: 'aggregate', signal: 'logs', groupBy: ['service'], measures: [{ function: 'count' }] },
      },
    },
  },

  markSavedQuery: { body: { isFavourite: true } },

  getDeadLetter: ({ tenant }) => ({ params: { id: deadLetterIdOf(tenant) } }),
  replayDeadLetters: { body: { all: true, dryRun: true } },
  getDeadLetterReplay: async ({ make }) => ({ params: { id: (await make('replayDeadLetters')).id } }),
  discardDeadLetter: ({ tenant }) => ({ params: { id: deadLetterToDiscardOf(tenant) } }),

  setProjectNotifications: { body: { recipients: ['somebody@example.com'] } },
  setQuotas: {
    body: { ...emptyQuota, day: { ...emptyQuota.day, total: { warnBytes: 1_000_000, rejectBytes: null } } },
  },
  changePlan: { body: { planId: 'enterprise' } },
};

/** Operations whose success is tested elsewhere, and where. They are called here too, and must not return 5xx. */
export const unshown: Readonly<Record<string, string>> = {
  startOidc: 'with a provider, in the tests of single sign-on',
  finishOidc: 'with a provider, in the tests of single sign-on',
  loadDemoData: 'in a process that runs all roles, in running.test.ts',
  deleteDemoData: 'in a process that runs all roles, in running.test.ts',
};

/** Operations that declare an audit record which their example does not cause, and when they create it. */
export const recordsElsewhere: Readonly<Record<string, string>> = {
  refreshSession: 'an old refresh token ends the session',
};
