/** Events of runtime security sensors in log records, and their groups. */
import test from 'ava';
import { runtimeThreats } from '../../processors/runtime-threats/runtime-threats.ts';
import type { RuntimeThreat } from '../../schemas/runtime-threats.ts';
import { topics } from '../../schemas/topics.ts';
import { maskTarget } from '../../subjects/runtime-threats/read-threat.ts';
import { firstMs, TaskRun } from './run-task.ts';

const attribute = (key: string, stringValue: string): object => ({ key, value: { stringValue } });
const recordOf = (body: unknown, attributes: Readonly<Record<string, string>> = {}): object => ({
  timeUnixNano: `${firstMs}000000`,
  body: { stringValue: typeof body === 'string' ? body : JSON.stringify(body) },
  attributes: Object.entries(attributes).map(([key, value]) => attribute(key, value)),
});
const findThreats = (records: readonly object[], resource: Readonly<Record<string, string>> = {}): RuntimeThreat[] => {
  const run = new TaskRun(runtimeThreats);
  run.logs(records, resource);
  return run.emitted<RuntimeThreat>(topics.runtimeThreats);
};

const falco = (pid: number, pod: string) => ({
  output: 'Sensitive file opened for reading',
  priority: 'Warning',
  rule: 'Read sensitive file untrusted',
  source: 'syscall',
  hostname: 'node-1',
  tags: ['maturity_stable', 'mitre_credential_access', 'T1555'],
  time: new Date(firstMs).toISOString(),
  output_fields: {
    'proc.name': 'cat',
    'proc.cmdline': 'cat /etc/shadow',
    'fd.name': `/proc/${pid}/environ`,
    'user.name': 'root',
    'k8s.ns.name': 'shop',
    'k8s.pod.name': pod,
    'container.image.repository': 'shop/cart',
  },
});

const cases: readonly (readonly [name: string, record: object, expected: Partial<RuntimeThreat>])[] = [
  [
    'Falco as JSON',
    recordOf(falco(17, 'cart-7f6d9c7b8-x2x4z')),
    {
      source: 'falco',
      rule: 'Read sensitive file untrusted',
      severity: 'medium',
      workload: 'shop/cart',
      program: 'cat',
      target: '/proc/17/environ',
      targetPattern: '/proc/<*>/environ',
      host: 'node-1',
      techniques: ['T1555'],
    },
  ],
  [
    'falcosidekick as OpenTelemetry',
    recordOf('A shell was spawned', {
      rule: 'Terminal shell in container',
      priority: 'Notice',
      source: 'syscall',
      hostname: 'node-2',
      tags: 'container,shell,T1059',
      timestamp: new Date(firstMs).toISOString(),
    }),
    {
      source: 'falco',
      rule: 'Terminal shell in container',
      severity: 'low',
      workload: 'node-2',
      techniques: ['T1059'],
    },
  ],
  [
    'Tetragon',
    recordOf({
      process_kprobe: {
        process: {
          binary: '/usr/bin/curl',
          arguments: 'http://x',
          pod: {
            namespace: 'shop',
            name: 'cart-7f6d9c7b8-x2x4z',
            workload: 'cart',
            container: { image: { name: 'shop/cart:1.2' } },
          },
        },
        function_name: 'tcp_connect',
        policy_name: 'egress',
        action: 'KPROBE_ACTION_SIGKILL',
        args: [{ sock_arg: { daddr: '10.1.2.3' } }],
      },
      node_name: 'node-3',
      time: new Date(firstMs).toISOString(),
    }),
    {
      source: 'tetragon',
      rule: 'egress',
      severity: 'high',
      workload: 'shop/cart',
      program: '/usr/bin/curl',
      host: 'node-3',
      target: '10.1.2.3',
    },
  ],
  [
    'Tracee',
    recordOf({
      eventName: 'anti_debugging',
      processName: 'strace',
      hostName: 'node-4',
      metadata: {
        Description: 'Process uses anti-debugging',
        Properties: { Severity: 1, signatureID: 'TRC-102', signatureName: 'Anti-Debugging', external_id: 'T1622' },
      },
    }),
    {
      source: 'tracee',
      rule: 'Anti-Debugging',
      severity: 'low',
      program: 'strace',
      workload: 'node-4',
      techniques: ['T1622'],
    },
  ],
  [
    'KubeArmor',
    recordOf({
      HostName: 'node-5',
      NamespaceName: 'shop',
      PodName: 'cart-0',
      Owner: { Name: 'cart' },
      PolicyName: 'block-shell',
      Severity: '8',
      Operation: 'Process',
      Resource: '/bin/sh',
      ProcessName: '/bin/sh',
      Action: 'Block',
      Result: 'Permission denied',
    }),
    {
      source: 'kubearmor',
      rule: 'block-shell',
      severity: 'critical',
      workload: 'shop/cart',
      action: 'Block',
      target: '/bin/sh',
    },
  ],
  [
    'a security rule of OpenTelemetry',
    recordOf('matched', {
      'security_rule.name': 'Suspicious download',
      'process.executable.name': 'wget',
      'file.path': '/tmp/a',
    }),
    { source: 'opentelemetry', rule: 'Suspicious download', program: 'wget', target: '/tmp/a' },
  ],
  [
    'the Elastic Common Schema',
    recordOf({
      '@timestamp': new Date(firstMs).toISOString(),
      event: { kind: 'signal', action: 'exec' },
      kibana: { alert: { rule: { name: 'Potential Reverse Shell' }, severity: 'high', reason: 'a shell connects' } },
      threat: { technique: [{ id: 'T1059' }] },
      host: { name: 'node-6' },
      process: { executable: '/bin/bash', command_line: 'bash -i' },
      destination: { ip: '203.0.113.9' },
      user: { name: 'www' },
    }),
    {
      source: 'ecs',
      rule: 'Potential Reverse Shell',
      severity: 'high',
      host: 'node-6',
      program: '/bin/bash',
      target: '203.0.113.9',
      user: 'www',
    },
  ],
  [
    'the Elastic Common Schema in attributes, with a severity as a number',
    recordOf('alert', {
      'event.kind': 'alert',
      'rule.name': 'Port scan',
      'event.severity': '73',
      'host.name': 'node-7',
    }),
    { source: 'ecs', rule: 'Port scan', severity: 'high', workload: 'node-7' },
  ],
  [
    'OCSF',
    recordOf({
      class_uid: 2004,
      severity_id: 5,
      time: firstMs,
      message: 'Credentials were read',
      finding_info: { title: 'Credential access', attacks: [{ technique: { uid: 'T1552.001' } }] },
      device: { hostname: 'node-8' },
      evidences: [{ process: { file: { path: '/usr/bin/cat' } }, file: { path: '/root/.aws/credentials' } }],
      actor: { user: { name: 'root' } },
    }),
    {
      source: 'ocsf',
      rule: 'Credential access',
      severity: 'critical',
      host: 'node-8',
      program: '/usr/bin/cat',
      target: '/root/.aws/credentials',
      techniques: ['T1552.001'],
    },
  ],
];
for (const [name, record, expected] of cases)
  test(`an event of ${name} is read`, (t) => {
    const threats = findThreats([record]);
    t.is(threats.length, 1);
    t.like(threats[0], expected);
  });

test('events that differ in pods, ids and times only are one group, in any order', (t) => {
  const records = [
    recordOf(falco(17, 'cart-7f6d9c7b8-x2x4z')),
    recordOf(falco(4242, 'cart-7f6d9c7b8-abcde')),
    recordOf(falco(9, 'cart-5d4f8c9b7-zzzzz')),
  ];
  const groups = new Set([...findThreats(records), ...findThreats(records.toReversed())].map(({ groupId }) => groupId));
  t.is(groups.size, 1);
  t.not(findThreats([recordOf({ ...falco(17, 'cart-0'), rule: 'Other' })])[0]?.groupId, [...groups][0]);
});

for (const body of [
  'GET /cart 200',
  JSON.stringify({ process_exec: { process: { binary: '/bin/ls' } } }),
  '{"output_fields": broken',
  JSON.stringify({ rule: 'x', priority: '' }),
  JSON.stringify({ event: { kind: 'event' }, rule: { name: 'allow all' } }),
  JSON.stringify({ class_uid: 4001, finding_info: { title: 'x' } }),
])
  test(`a record without an event is not a threat: ${body.slice(0, 30)}`, (t) => {
    t.deepEqual(findThreats([recordOf(body)]), []);
  });

for (const [target, masked] of [
  ['/etc/shadow', '/etc/shadow'],
  ['/tmp/tmpa8f3k2/x', '/tmp/<*>/x'],
  ['10.1.2.3:4444', '<*>.<*>.<*>.<*>:<*>'],
  ['/var/lib/kubelet/pods/3b1c0b5e-6f1e-4c8e-9d57-0a1b2c3d4e5f/v', '/var/lib/kubelet/pods/<*>/v'],
] as const)
  test(`the pattern of ${target} has no changing part`, (t) => {
    t.is(maskTarget(target), masked);
  });
