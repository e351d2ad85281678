/** Security events of the demo shop: a runtime sensor reports a few, and one service logs a credential by mistake. */
import { type Outbox, toKeyValues, toNanosecondText } from './otlp-json.ts';
import { pick } from './random.ts';

const sensorEvents = [
  { rule: 'Terminal shell in container', priority: 'Notice', program: 'bash', target: '', tag: 'T1059' },
  { rule: 'Read sensitive file untrusted', priority: 'Warning', program: 'cat', target: '/etc/shadow', tag: 'T1555' },
  {
    rule: 'Drop and execute new binary in container',
    priority: 'Critical',
    program: 'x',
    target: '/tmp/x',
    tag: 'T1105',
  },
] as const;
const characters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const tokenLength = 20;

/** A token in the form of GitLab's, which opens nothing. */
const createToken = (): string => `glpat-${Array.from({ length: tokenLength }, () => pick([...characters])).join('')}`;

const token = createToken();

/** Adds an event of the sensor, and a log record with a credential. */
export const addSecurityRecords = (logs: Outbox, timeMs: number): void => {
  const time = { timeUnixNano: toNanosecondText(timeMs), observedTimeUnixNano: toNanosecondText(timeMs) };
  const { rule, priority, program, target, tag } = pick(sensorEvents);
  const event = {
    rule,
    priority,
    source: 'syscall',
    output: `${rule} (${program})`,
    hostname: 'node-1',
    time: new Date(timeMs).toISOString(),
    tags: [tag],
    output_fields: {
      'proc.name': program,
      ...(target !== '' && { 'fd.name': target }),
      'user.name': 'root',
      'k8s.ns.name': 'shop',
      'k8s.pod.name': 'payments-7f6d9c7b8-x2x4z',
      'container.image.repository': 'registry.example/shop/payments',
    },
  };
  const sensor = { 'service.name': 'falco', 'host.name': 'node-1' };
  logs.add(sensor, { ...time, severityNumber: 13, severityText: 'WARN', body: { stringValue: JSON.stringify(event) } });
  logs.add(
    { 'service.name': 'email', 'service.namespace': 'shop' },
    {
      ...time,
      severityNumber: 9,
      severityText: 'INFO',
      body: { stringValue: `fetching templates with token ${token}` },
      attributes: toKeyValues({ 'code.function.name': 'loadTemplates' }),
    },
  );
};
