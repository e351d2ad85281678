/** Forms of events of runtime security sensors. The forms are tables without code; a new sensor is an entry. */
import type { RuntimeThreat } from '../../schemas/runtime-threats.ts';

/** Names of a value, in lookup order */
type FieldNames = readonly string[];

export interface ThreatFormat {
  readonly source: RuntimeThreat['source'];
  /** Required values, each under one of its names */
  readonly needs: readonly FieldNames[];
  /** Required forms of values, each under one of its names */
  readonly matches?: readonly (readonly [names: FieldNames, pattern: RegExp])[];
  /** Objects whose fields are looked up like those at the top */
  readonly roots: FieldNames;
  readonly rule: FieldNames;
  readonly severity: FieldNames;
  /** Severity of words and numbers, the first match counts */
  readonly severities: readonly (readonly [pattern: RegExp, severity: RuntimeThreat['severity']])[];
  readonly message: FieldNames;
  readonly host: FieldNames;
  readonly owner: FieldNames;
  readonly namespace: FieldNames;
  readonly pod: FieldNames;
  readonly image: FieldNames;
  readonly program: FieldNames;
  readonly commandLine: FieldNames;
  readonly target: FieldNames;
  readonly user: FieldNames;
  readonly action: FieldNames;
  /** Values that may contain ids of ATT&CK techniques */
  readonly tags: FieldNames;
  readonly time: FieldNames;
}

const kubernetes = {
  owner: ['k8s.deployment.name', 'k8s.statefulset.name', 'k8s.daemonset.name', 'k8s.cronjob.name', 'k8s.job.name'],
  namespace: ['k8s.namespace.name', 'k8s.ns.name'],
  pod: ['k8s.pod.name'],
  image: ['container.image.name'],
} as const;

export const threatFormats: readonly ThreatFormat[] = [
  {
    source: 'falco',
    needs: [['rule'], ['priority'], ['output_fields', 'output', 'source']],
    roots: ['output_fields'],
    rule: ['rule'],
    severity: ['priority'],
    severities: [
      [/emergency|alert|critical/i, 'critical'],
      [/error/i, 'high'],
      [/warning/i, 'medium'],
      [/notice/i, 'low'],
      [/./, 'informational'],
    ],
    message: ['output'],
    host: ['hostname', 'evt.hostname', 'k8s.node.name', 'host.name'],
    owner: kubernetes.owner,
    namespace: kubernetes.namespace,
    pod: kubernetes.pod,
    image: ['container.image.repository', ...kubernetes.image],
    program: ['proc.exepath', 'proc.name', 'ka.user.name'],
    commandLine: ['proc.cmdline'],
    target: ['fd.name', 'fs.path.name', 'fs.path.target', 'evt.arg.path', 'ka.target.name', 'fd.sip'],
    user: ['user.name', 'user.loginname', 'user.uid', 'ka.user.name'],
    action: ['evt.type', 'ka.verb'],
    tags: ['tags'],
    time: ['time', 'timestamp'],
  },
  ...['process_kprobe', 'process_tracepoint', 'process_uprobe', 'process_lsm'].map(
    (kind): ThreatFormat => ({
      source: 'tetragon',
      needs: [[`${kind}.policy_name`, `${kind}.function_name`]],
      roots: [kind],
      rule: ['policy_name', 'function_name'],
      severity: ['action'],
      severities: [
        [/SIGKILL|OVERRIDE|SIGNAL/i, 'high'],
        [/./, 'medium'],
      ],
      message: ['message'],
      host: ['node_name', 'k8s.node.name', 'host.name'],
      owner: ['process.pod.workload', ...kubernetes.owner],
      namespace: ['process.pod.namespace', ...kubernetes.namespace],
      pod: ['process.pod.name', ...kubernetes.pod],
      image: ['process.pod.container.image.name', ...kubernetes.image],
      program: ['process.binary'],
      commandLine: ['process.arguments'],
      target: [
        'args.0.file_arg.path',
        'args.0.path_arg.path',
        'args.0.sock_arg.daddr',
        'args.0.string_arg',
        'args.1.string_arg',
      ],
      user: ['process.uid'],
      action: ['action'],
      tags: ['tags'],
      time: ['time'],
    }),
  ),
  {
    source: 'tracee',
    needs: [['eventName'], ['metadata.Properties.signatureID', 'metadata.Properties.Severity', 'threat.name']],
    roots: [],
    rule: ['metadata.Properties.signatureName', 'threat.name', 'eventName'],
    severity: ['metadata.Properties.Severity', 'threat.severity'],
    severities: [
      [/^3|critical|high/i, 'high'],
      [/^2|medium/i, 'medium'],
      [/./, 'low'],
    ],
    message: ['metadata.Description', 'threat.description'],
    host: ['hostName', 'host.name'],
    owner: kubernetes.owner,
    namespace: ['kubernetes.podNamespace', 'podNamespace', ...kubernetes.namespace],
    pod: ['kubernetes.podName', 'podName', ...kubernetes.pod],
    image: ['container.image', 'containerImage', ...kubernetes.image],
    program: ['executable.path', 'processName'],
    commandLine: ['commandLine'],
    target: ['args.0.value'],
    user: ['userId'],
    action: ['syscall'],
    tags: ['metadata.Properties.external_id', 'threat.mitre.technique.id'],
    time: ['timestamp'],
  },
  {
    source: 'kubearmor',
    needs: [['PolicyName'], ['Operation'], ['Result', 'Action']],
    roots: [],
    rule: ['PolicyName'],
    severity: ['Severity'],
    severities: [
      [/^(?:[89]|10)$/, 'critical'],
      [/^[67]$/, 'high'],
      [/^[345]$/, 'medium'],
      [/./, 'low'],
    ],
    message: ['Message'],
    host: ['HostName', 'host.name'],
    owner: ['Owner.Name', ...kubernetes.owner],
    namespace: ['NamespaceName', ...kubernetes.namespace],
    pod: ['PodName', ...kubernetes.pod],
    image: ['ContainerImage', ...kubernetes.image],
    program: ['ProcessName'],
    commandLine: ['Source'],
    target: ['Resource'],
    user: ['UID'],
    action: ['Action'],
    tags: ['Tags', 'ATags'],
    time: ['UpdatedTime', 'Timestamp'],
  },
  {
    source: 'opentelemetry',
    needs: [['security_rule.name', 'security_rule.uuid']],
    roots: [],
    rule: ['security_rule.name', 'security_rule.uuid'],
    severity: ['security_rule.severity', 'event.severity', 'severity'],
    severities: [
      [/critical|fatal/i, 'critical'],
      [/high|error/i, 'high'],
      [/medium|warn/i, 'medium'],
      [/low|notice/i, 'low'],
      [/./, 'informational'],
    ],
    message: ['security_rule.description', 'message'],
    host: ['host.name', 'k8s.node.name'],
    owner: kubernetes.owner,
    namespace: kubernetes.namespace,
    pod: kubernetes.pod,
    image: kubernetes.image,
    program: ['process.executable.path', 'process.executable.name'],
    commandLine: ['process.command_line'],
    target: ['file.path', 'url.full', 'destination.address', 'server.address'],
    user: ['user.name', 'process.owner'],
    action: ['event.action'],
    tags: ['security_rule.category', 'threat.technique.id', 'security_rule.reference'],
    time: [],
  },
  {
    source: 'ecs',
    needs: [['kibana.alert.rule.name', 'rule.name']],
    matches: [[['event.kind'], /^(?:alert|signal)$/]],
    roots: [],
    rule: ['kibana.alert.rule.name', 'rule.name'],
    severity: ['kibana.alert.severity', 'event.severity', 'log.level'],
    severities: [
      [/critical|^(?:7[4-9]|[89]\d|100)$/i, 'critical'],
      [/high|error|^(?:4[89]|[56]\d|7[0-3])$/i, 'high'],
      [/medium|warn|^(?:2[2-9]|3\d|4[0-7])$/i, 'medium'],
      [/./, 'low'],
    ],
    message: ['kibana.alert.reason', 'message', 'rule.description'],
    host: ['host.name', 'host.hostname', 'agent.name'],
    owner: [...kubernetes.owner, 'orchestrator.resource.parent.name'],
    namespace: ['orchestrator.namespace', ...kubernetes.namespace],
    pod: ['kubernetes.pod.name', ...kubernetes.pod],
    image: kubernetes.image,
    program: ['process.executable', 'process.name'],
    commandLine: ['process.command_line'],
    target: ['file.path', 'url.full', 'destination.domain', 'destination.ip', 'dns.question.name', 'registry.path'],
    user: ['user.name', 'user.id'],
    action: ['event.action'],
    tags: [
      'threat.technique.id',
      'kibana.alert.rule.threat.0.technique.0.id',
      'kibana.alert.rule.tags',
      'rule.reference',
    ],
    time: ['@timestamp'],
  },
  {
    source: 'ocsf',
    needs: [['finding_info.title', 'finding.title', 'finding_info.analytic.name']],
    // Security Finding and Detection Finding
    matches: [[['class_uid'], /^200[14]$/]],
    roots: ['evidences.0'],
    rule: ['finding_info.analytic.name', 'finding_info.title', 'finding.title'],
    severity: ['severity', 'severity_id'],
    severities: [
      [/critical|fatal|^[56]$/i, 'critical'],
      [/high|^4$/i, 'high'],
      [/medium|^3$/i, 'medium'],
      [/low|^2$/i, 'low'],
      [/./, 'informational'],
    ],
    message: ['message', 'finding_info.desc', 'finding.desc'],
    host: ['device.hostname', 'device.name', 'resources.0.name', 'resource.name', 'host.name'],
    owner: kubernetes.owner,
    namespace: kubernetes.namespace,
    pod: ['device.container.pod_uuid', ...kubernetes.pod],
    image: ['device.container.image.name', 'container.image.name'],
    program: ['process.file.path', 'process.name', 'actor.process.file.path', 'actor.process.name'],
    commandLine: ['process.cmd_line', 'actor.process.cmd_line'],
    target: ['file.path', 'url.url_string', 'dst_endpoint.hostname', 'dst_endpoint.ip', 'query.hostname'],
    user: ['actor.user.name', 'user.name'],
    action: ['disposition', 'activity_name'],
    tags: ['finding_info.attacks.0.technique.uid', 'attacks.0.technique.uid', 'finding_info.types'],
    time: ['time_dt', 'time'],
  },
];

/** Attributes of records that may be events; other records need one of the texts in their body. */
export const threatAttributes = [
  'priority',
  'rule',
  'PolicyName',
  'security_rule.name',
  'security_rule.uuid',
  'policy_name',
  'rule.name',
  'kibana.alert.rule.name',
  'finding_info.title',
];
export const threatTexts = [
  '"output_fields"',
  '"process_kprobe"',
  '"process_tracepoint"',
  '"process_uprobe"',
  '"process_lsm"',
  '"signatureID"',
  '"signatureName"',
  '"PolicyName"',
  '"security_rule',
  '"kibana.alert',
  '"event.kind"',
  '"kind":"alert"',
  '"kind": "alert"',
  '"kind":"signal"',
  '"kind": "signal"',
  '"finding_info"',
  '"class_uid":2001',
  '"class_uid": 2001',
];
