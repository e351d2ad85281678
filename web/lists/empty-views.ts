/** Texts of empty lists by path: purpose and next steps. The list itself explains why it is empty. */

/** `widen` selects a longer range, `form` opens the form of the list; others are links */
export type NextStep = 'widen' | { readonly form: string } | readonly [title: string, url: string];

export interface EmptyViewText {
  readonly purpose: string;
  readonly next: readonly NextStep[];
  /** Whether the toolbar of the view has its primary button, so that no step is one */
  readonly hasPrimaryButton?: boolean;
}

const sendData: NextStep = ['Send data', '/get-started'];
const collect = (sender: string): NextStep => ['Send data', `/get-started?sender=${sender}`];
const manageRules: NextStep = ['New alert rule', '/alerts/rule'];

export const emptyViews: Readonly<Record<string, EmptyViewText>> = {
  '/services': { purpose: 'Services appear when they send traces.', next: [sendData, 'widen'] },
  '/errors': {
    purpose: 'Exceptions and error logs are grouped here, with their stack traces.',
    next: [sendData, 'widen'],
  },
  '/alerts': {
    purpose: 'Alerts fire when the condition of an alert rule holds.',
    next: [manageRules, ['View rules', '/alerts/rules']],
  },
  '/alerts/history': { purpose: 'Each change of an alert is listed here.', next: [manageRules, 'widen'] },
  '/alerts/rules': {
    hasPrimaryButton: true,
    purpose: 'An alert rule evaluates a query and notifies contact points when its condition holds.',
    next: [manageRules, ['Import rules', '/alerts/import']],
  },
  '/alerts/recording': {
    purpose: 'Recording rules store the result of a PromQL query as a new series.',
    next: [{ form: 'Create recording group' }, ['Import rules', '/alerts/import']],
  },
  '/alerts/silences': {
    hasPrimaryButton: true,
    purpose: 'A silence mutes alerts by their labels for some time.',
    next: [['View alerts', '/alerts']],
  },
  '/alerts/maintenance': {
    purpose: 'Alerts are muted during planned work, once or on a schedule.',
    next: [{ form: 'Create maintenance window' }],
  },
  '/alerts/channels': {
    purpose: 'A contact point receives notifications, for example in Slack, by email or webhook.',
    next: [{ form: 'Create contact point' }, ['View routing', '/alerts/routing']],
  },
  '/anomalies': {
    purpose: 'Anomalies are values that a detector did not expect.',
    next: [['View detectors', '/anomalies/detectors'], 'widen'],
  },
  '/anomalies/detectors': {
    purpose: 'A detector learns the usual values of a query and reports deviations.',
    next: [{ form: 'Create detector' }, ['View suggestions', '/ask/suggestions']],
  },
  '/fleet': {
    purpose: 'eBPF agents and other agents instrument services without code changes.',
    next: [['Install agent', '/fleet/install'], 'widen'],
  },
  '/fleet/coverage': {
    purpose: 'Coverage lists hosts and services with and without instrumentation.',
    next: [sendData, 'widen'],
  },
  '/security': {
    purpose: 'Security shows vulnerabilities, runtime threats, secrets in telemetry and signals of detection rules.',
    next: [['Import report', '/security/import'], 'widen'],
  },
  '/security/vulnerabilities': {
    purpose: 'Vulnerabilities are findings of Trivy, Grype and other scanners, ranked by what runs.',
    next: [['Import report', '/security/import']],
  },
  '/security/secrets': {
    purpose: 'Secrets in logs and spans are found as the records arrive.',
    next: [sendData, 'widen'],
  },
  '/security/threats': {
    purpose: 'Runtime threats are reports of Falco, Tetragon and other sensors.',
    next: [sendData, 'widen'],
  },
  '/security/events': {
    purpose: 'Events are signals, runtime threats, secrets and vulnerabilities in one list.',
    next: [sendData, 'widen'],
  },
  '/slos': {
    purpose: 'An SLO states how reliable a service should be, and alerts before its error budget is spent.',
    next: [{ form: 'Create SLO' }, ['View suggestions', '/ask/suggestions']],
  },
  '/checks': {
    purpose: 'Synthetic checks call a URL, a page or a job at an interval, and alert when it fails.',
    next: [{ form: 'Create check' }, ['View locations', '/checks/locations']],
  },
  '/checks/locations': {
    purpose: 'Checks run from locations. A location runs a probe.',
    next: [{ form: 'Create location' }, ['View checks', '/checks']],
  },
  '/checks/downtimes': {
    purpose: 'A downtime excludes planned work from uptime and alerts.',
    next: [{ form: 'Create downtime' }, ['View checks', '/checks']],
  },
  '/checks/variables': {
    purpose: 'Variables hold values and secrets that several checks use.',
    next: [{ form: 'Create variable' }, ['View checks', '/checks']],
  },
  '/digital-experience': {
    purpose: 'Browsers report page views, web vitals, errors and clicks with a browser key.',
    next: [['View browser keys', '/digital-experience/keys'], 'widen'],
  },
  '/digital-experience/sessions': {
    purpose: 'A session is what one visitor did: pages, clicks, errors and requests with their traces.',
    next: [['View browser keys', '/digital-experience/keys'], 'widen'],
  },
  '/digital-experience/web-vitals': {
    purpose: 'Web vitals measure how fast pages load, respond and settle for visitors.',
    next: [['View browser keys', '/digital-experience/keys'], 'widen'],
  },
  '/digital-experience/pages': {
    purpose: 'Pages are grouped by route, with views, exits, errors and the phases of loading.',
    next: [['View browser keys', '/digital-experience/keys'], 'widen'],
  },
  '/digital-experience/resources': {
    purpose: 'Resources are the scripts, images and requests that pages load.',
    next: [['View browser keys', '/digital-experience/keys'], 'widen'],
  },
  '/digital-experience/errors': {
    purpose: 'Browser exceptions are grouped here, with their sessions and stack traces.',
    next: [['View browser keys', '/digital-experience/keys'], 'widen'],
  },
  '/digital-experience/keys': {
    purpose: 'A browser key lets the pages of one application send telemetry.',
    next: [['Create browser key', '/settings/keys?new=browser']],
  },
  '/events': {
    purpose: 'Deployments, configuration changes and custom events explain what changed.',
    next: ['widen', ['View services', '/services']],
  },
  '/logs': { purpose: 'Log records appear within seconds after they are sent.', next: [sendData, 'widen'] },
  '/traces': { purpose: 'A trace shows the calls of one request through all services.', next: [sendData, 'widen'] },
  '/explore-metrics': {
    purpose: 'Metrics are listed by name, with their unit and labels.',
    next: [collect('prometheus'), 'widen'],
  },
  '/explore-metrics/cardinality': {
    purpose: 'Metrics with many series cost the most.',
    next: [collect('prometheus'), 'widen'],
  },
  '/dashboards': {
    hasPrimaryButton: true,
    purpose: 'Dashboards show queries side by side.',
    next: [
      ['Start from a template', '/dashboards/templates'],
      ['Import from Grafana', '/dashboards/import'],
    ],
  },
  '/saved-queries': {
    hasPrimaryButton: true,
    purpose: 'Saved queries are shared by name.',
    next: [
      ['Search logs', '/logs'],
      ['Query metrics', '/explore-metrics'],
    ],
  },
  '/saved-queries/templates': { purpose: 'Templates are queries that fit the stored data.', next: [sendData] },
  '/ask/documents': {
    purpose: 'Runbooks and documents are searched and cited in answers.',
    next: [['Ask a question', '/ask']],
  },
  '/ask/suggestions': {
    purpose: 'Suggestions come from the stored data, such as an SLO for a service.',
    next: [sendData],
  },
  '/infrastructure': {
    purpose: 'Hosts appear when their collector sends host metrics.',
    next: [collect('collector'), 'widen'],
  },
  '/infrastructure/disks': {
    purpose: 'Disks appear with the metrics of the hostmetrics receiver.',
    next: [collect('collector'), 'widen'],
  },
  '/infrastructure/processes': {
    purpose: 'Processes appear with the process scraper of the receiver hostmetrics.',
    next: [collect('collector'), 'widen'],
  },
  '/infrastructure/compute': {
    purpose: 'Instances and containers appear with their resource attributes.',
    next: [collect('collector'), 'widen'],
  },
  '/kubernetes': {
    purpose:
      'Clusters appear with metrics of the k8s_cluster and kubeletstats receivers. Logs and traces alone are not enough.',
    next: [collect('kubernetes'), 'widen'],
  },
  '/kubernetes/nodes': {
    purpose: 'Nodes appear with metrics of the receiver k8s_cluster.',
    next: [collect('kubernetes'), 'widen'],
  },
  '/kubernetes/namespaces': {
    purpose: 'Namespaces appear with metrics of the receiver k8s_cluster.',
    next: [collect('kubernetes'), 'widen'],
  },
  '/kubernetes/workloads': {
    purpose: 'Deployments, stateful sets and others appear with metrics of the receiver k8s_cluster.',
    next: [collect('kubernetes'), 'widen'],
  },
  '/kubernetes/pods': {
    purpose: 'Pods appear with metrics of the receivers k8s_cluster and kubeletstats.',
    next: [collect('kubernetes'), 'widen'],
  },
  '/kubernetes/containers': {
    purpose: 'Containers appear with metrics of the receiver kubeletstats.',
    next: [collect('kubernetes'), 'widen'],
  },
  '/kubernetes/events': {
    purpose: 'Kubernetes events appear as log records of the k8sobjects receiver.',
    next: [collect('kubernetes'), 'widen'],
  },
  '/databases': {
    purpose: 'Databases appear with client spans of services or metrics of database receivers.',
    next: [sendData, 'widen'],
  },
  '/databases/statements': {
    purpose: 'Statements are normalized and ranked by their total time.',
    next: [sendData, 'widen'],
  },
  '/databases/engines': { purpose: 'Engines are ranked by their calls.', next: [sendData, 'widen'] },
  '/network': {
    purpose: 'Flows show who talks to whom, from agents or flow exporters.',
    next: [collect('collector'), 'widen'],
  },
  '/network/dns': { purpose: 'DNS lookups show names, times and failures.', next: [collect('collector'), 'widen'] },
  '/network/map': { purpose: 'The map shows flows between hosts and services.', next: [collect('collector'), 'widen'] },
  '/incidents': {
    hasPrimaryButton: true,
    purpose: 'Escalation policies open incidents for alerts, and users declare them.',
    next: [
      ['Declare incident', '/incidents?incident=new'],
      ['Set up paging', '/incidents/escalation?open=new'],
      ['View routing', '/alerts/routing'],
    ],
  },
  '/incidents/on-call': {
    purpose: 'A schedule states who is on call and when.',
    next: [{ form: 'Create schedule' }, ['View policies', '/incidents/escalation']],
  },
  '/incidents/escalation': {
    purpose: 'An escalation policy states who is paged, and who is next if nobody acknowledges.',
    next: [{ form: 'Create escalation policy' }, ['View schedules', '/incidents/on-call']],
  },
  '/incidents/pages': {
    purpose: 'Each page to a person is listed here, with its delivery.',
    next: [['Edit contact methods', '/settings/contacts'], 'widen'],
  },
  '/incidents/calendars': {
    hasPrimaryButton: true,
    purpose: 'A calendar link shows shifts in your calendar.',
    next: [['View schedules', '/incidents/on-call']],
  },
  '/detections': {
    purpose: 'Security signals are matches of detection rules.',
    next: [['View rules', '/detections/rules'], 'widen'],
  },
  '/detections/rules': {
    hasPrimaryButton: true,
    purpose: 'Detection rules find threats in logs. Sigma rules can be imported.',
    next: [['Import Sigma rules', '/detections/import'], { form: 'Create rule' }],
  },
  '/detections/entities': {
    purpose: 'Entities are users, hosts, processes and addresses, ranked by the risk of their signals.',
    next: [['View rules', '/detections/rules'], 'widen'],
  },
  '/detections/placeholders': {
    purpose: 'Placeholders are lists of values, such as domain controllers, that Sigma rules refer to.',
    next: [{ form: 'Create placeholder' }, ['View rules', '/detections/rules']],
  },
  '/detections/fields': {
    purpose: 'A field mapping names the attribute that has the value of a field of Sigma rules.',
    next: [{ form: 'Create field mapping' }, ['View rules', '/detections/rules']],
  },
  '/detections/hunts': {
    purpose: 'A hunt runs a new rule on the records of the past.',
    next: [['View rules', '/detections/rules']],
  },
  '/detections/cases': {
    purpose: 'A case collects the signals, evidence and notes of an investigation.',
    next: [['View signals', '/detections']],
  },
  '/detections/matches': {
    purpose: 'Records with a known malicious address, domain or hash are listed here.',
    next: [['View feeds', '/detections/feeds'], 'widen'],
  },
  '/detections/indicators': {
    purpose: 'Indicators are addresses, domains, URLs and hashes of threats.',
    next: [{ form: 'Create indicator' }, ['View feeds', '/detections/feeds']],
  },
  '/detections/feeds': {
    purpose: 'A feed loads indicators from a URL or a TAXII server at an interval.',
    next: [{ form: 'Create feed' }, ['View indicators', '/detections/indicators']],
  },
  '/detections/files': {
    purpose: 'Changes of watched files appear here, with who changed them.',
    next: [['View baselines', '/detections/baselines'], 'widen'],
  },
  '/detections/baselines': {
    purpose: 'A baseline is the approved state of files. Deviations are reported.',
    next: [{ form: 'Create baseline' }, ['View file changes', '/detections/files']],
  },
  '/llm': {
    purpose: 'Costs, tokens and errors of model calls appear with spans that follow the conventions for generative AI.',
    next: [sendData, 'widen'],
  },
  '/llm/cost': { purpose: 'Costs are computed from tokens and prices of models.', next: [sendData, 'widen'] },
  '/llm/requests': { purpose: 'Each call of a model is listed with its tokens and cost.', next: [sendData, 'widen'] },
  '/llm/models': {
    purpose: 'Models appear with their first request. Prices can be overridden.',
    next: [sendData, 'widen'],
  },
  '/agents': {
    purpose: 'Coding agents appear when AgentSight runs on their host.',
    next: [['Install AgentSight', '/fleet/install?agent=agentsight'], 'widen'],
  },
  '/agents/sessions': {
    purpose: 'A session shows the prompts of an agent, and its actions on the host.',
    next: [['Install AgentSight', '/fleet/install?agent=agentsight'], 'widen'],
  },
  '/agents/risks': {
    purpose: 'Risks are actions of agents that no prompt explains, or that rules consider dangerous.',
    next: [['View agents', '/agents'], 'widen'],
  },
  '/settings/invitations': {
    hasPrimaryButton: true,
    purpose: 'Invited users appear here until they join.',
    next: [['View users', '/settings/people']],
  },
  '/settings/service-accounts': {
    hasPrimaryButton: true,
    purpose: 'Programs use API tokens of service accounts.',
    next: [['View users', '/settings/people']],
  },
  '/settings/keys': { purpose: 'Senders of telemetry authenticate with an ingest key.', next: [sendData] },
  '/settings/dead-letters': {
    purpose: 'Refused payloads are stored here with the reason, and can be replayed.',
    next: [['Troubleshoot', '/get-started/doctor'], 'widen'],
  },
  '/settings/contacts': {
    purpose: 'Contact methods state how you are paged.',
    next: [{ form: 'Create contact method' }, ['View schedules', '/incidents/on-call']],
  },
  '/settings/projects': {
    purpose: 'A project separates the telemetry and access of a team.',
    next: [{ form: 'Create project' }],
  },
  '/settings/audit': { purpose: 'Each change of the configuration is recorded.', next: ['widen'] },
};

/** For a list without an entry, such as one of a single object */
export const defaultEmptyView: EmptyViewText = { purpose: '', next: [sendData, 'widen'] };
