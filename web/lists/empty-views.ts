/** What an empty list says, by its path: what it is for, and its next steps. The list states why it is empty. */

/** `widen` selects a longer range, `form` opens the form of the list; others are links */
export type NextStep = 'widen' | { readonly form: string } | readonly [title: string, url: string];

export interface EmptyViewText {
  readonly purpose: string;
  readonly next: readonly NextStep[];
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
    purpose: 'An alert rule evaluates a query and notifies contact points when its condition holds.',
    next: [manageRules, ['Import rules', '/alerts/import']],
  },
  '/alerts/recording': {
    purpose: 'Recording rules store the result of a PromQL query as a new series.',
    next: [{ form: 'Create recording group' }, ['Import rules', '/alerts/import']],
  },
  '/alerts/silences': {
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
    purpose: 'Exceptions of browsers are grouped here, with their sessions and stack traces.',
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
    purpose: 'Dashboards show queries side by side.',
    next: [
      ['Start from a template', '/dashboards/templates'],
      ['Import from Grafana', '/dashboards/import'],
    ],
  },
  '/saved-queries': {
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
    purpose: 'Disks appear with the metrics of the receiver hostmetrics.',
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
      'Clusters appear with metrics of the receivers k8s_cluster and kubeletstats. Logs and traces alone are not enough.',
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
    purpose: 'Kubernetes events appear as log records of the receiver k8sobjects.',
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
    purpose: 'An incident is opened by an escalation policy, or by hand.',
    next: [
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
    purpose: 'A calendar link shows shifts in your calendar.',
    next: [['View schedules', '/incidents/on-call']],
  },
  '/detections': {
    purpose: 'Security signals are matches of detection rules.',
    next: [['View rules', '/detections/rules'], 'widen'],
  },
  '/detections/rules': {
    purpose: 'Detection rules find threats in logs. Sigma rules can be imported.',
    next: [['Import Sigma rules', '/detections/import'], { form: 'Create rule' }],
  },
  '/settings/invitations': {
    purpose: 'Invited users appear here until they join.',
    next: [['View users', '/settings/people']],
  },
  '/settings/service-accounts': {
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
