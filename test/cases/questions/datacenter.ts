/** Questions with conditions on the values of groups, about a hosting company. */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['portal', 'billing', 'dns-api', 'provisioner'];
const hosts = ['rack1-a', 'rack2-b'];
const resource = [
  field('resource.host.name', hosts),
  field('resource.service.version', ['4.1.0', '4.2.0']),
  field('resource.k8s.pod.name', ['portal-1', 'billing-2']),
];

export const datacenter = {
  logs: signal(services, [
    field('customer.id', ['C1'], 9000),
    field('user.id', ['u1'], 90_000),
    field('event.name', ['login_failed', 'server_ordered']),
    ...resource,
  ]),
  traces: signal(services, [
    field('http.route', ['/servers', '/servers/{id}', '/invoices']),
    field('http.response.status_code', ['200', '404', '500'], 3, 'number'),
    field('customer.id', ['C1'], 9000),
    field('client.address', ['192.0.2.1'], 9000),
    field('invoice.total', [], 9000, 'number'),
    ...resource,
  ]),
  metrics: [
    metric('system.cpu.utilization', 'gauge', '1', { 'host.name': hosts }),
    metric('system.filesystem.utilization', 'gauge', '1', { 'host.name': hosts, mountpoint: ['/', '/data'] }),
    metric('system.memory.available', 'gauge', 'By', { 'host.name': hosts }),
    metric('k8s.pod.memory.usage', 'gauge', 'By', { 'k8s.pod.name': ['portal-1', 'billing-2'] }),
    metric('k8s.pod.cpu.usage', 'gauge', '{cpu}', { 'k8s.pod.name': ['portal-1', 'billing-2'] }),
    metric('k8s.container.restarts', 'gauge', '{restart}', { 'k8s.pod.name': ['portal-1', 'billing-2'] }),
    metric('hw.temperature', 'gauge', 'Cel', { 'host.name': hosts }),
    metric('kafka.consumer.lag', 'gauge', '{message}', { topic: ['orders'], group: ['billing'] }),
    metric('backup.duration', 'histogram', 's', { 'host.name': hosts }),
    metric('ups.battery.level', 'gauge', '%', { ups: ['u1', 'u2'] }),
    metric('tickets.opened', 'counter', '{ticket}', { 'support.queue': ['network', 'billing'] }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const datacenterQuestions: readonly QuestionCase[] = [
  ['hosts above 80 % system cpu utilization', 'metric system.cpu.utilization avg/avg by host.name having >0.8'],
  ['which hosts have cpu utilization over 90%', 'metric system.cpu.utilization avg/avg by host.name having >0.9'],
  [
    'show me hosts with cpu utilization above 80 percent yesterday',
    'metric system.cpu.utilization avg/avg by host.name having >0.8 10T00:00..11T00:00',
  ],
  ['cpu utilization above 80 by host', 'metric system.cpu.utilization avg/avg by host.name having >0.8'],
  ['hosts below 20% cpu utilization', 'metric system.cpu.utilization avg/avg by host.name having <0.2'],
  ['hosts whose peak cpu utilization is above 95%', 'metric system.cpu.utilization max/max by host.name having >0.95'],
  ['which pods use more than 1 GB of memory', 'metric k8s.pod.memory.usage avg/sum by k8s.pod.name having >1000000000'],
  ['pods using over 512 MiB memory', 'metric k8s.pod.memory.usage avg/sum by k8s.pod.name having >536870912'],
  ['pods with a cpu usage of at least 2 cores', 'metric k8s.pod.cpu.usage avg/sum by k8s.pod.name having >=2'],
  [
    'which pods restarted more than 3 times today',
    'growth k8s.container.restarts by k8s.pod.name having >3 11T00:00..11T10:30',
  ],
  [
    'hosts with less than 4 GB of available memory',
    'metric system.memory.available avg/sum by host.name having <4000000000',
  ],
  [
    'mountpoints with filesystem utilization above 90% right now',
    'metric system.filesystem.utilization last/avg by mountpoint having >0.9',
  ],
  ['hosts hotter than 70 degrees', 'metric hw.temperature avg/avg by host.name having >70'],
  ['hosts with a temperature above 70 degrees', 'metric hw.temperature avg/avg by host.name having >70'],
  ['topics with a consumer lag of more than 5k messages', 'metric kafka.consumer.lag avg/sum by topic having >5000'],
  [
    'hosts whose backup duration is over 2 hours on average',
    'metric backup.duration avg/sum by host.name having >7200',
  ],
  ['ups with a battery level under 30 %', 'metric ups.battery.level avg/avg by ups having <30'],
  ['queues with more than 10 opened tickets', 'metric tickets.opened increase/sum by support.queue having >10'],
  ['services with an error rate over 5 %', 'share traces [status:error] of [kind:server] by service having >5'],
  ['which services have an error rate above 5', 'share traces [status:error] of [kind:server] by service having >5'],
  [
    'routes where more than 1% of requests fail',
    'share traces [status:error] of [http.route:* kind:server] by http.route having >1',
  ],
  [
    'endpoints slower than 2 seconds on average',
    'traces avg(duration) [http.route:* kind:server] by http.route having >2000000000',
  ],
  [
    'endpoints that take longer than 500 ms on average',
    'traces avg(duration) [http.route:* kind:server] by http.route having >500000000',
  ],
  ['services with p99 over 1s', 'traces p99(duration) [kind:server] by service having >1000000000'],
  [
    'routes with a 95th percentile latency below 100ms',
    'traces p95(duration) [http.route:* kind:server] by http.route having <100000000',
  ],
  [
    'services whose average response time exceeds 300 ms',
    'traces avg(duration) [kind:server] by service having >300000000',
  ],
  ['services with more than 100 requests', 'traces count [kind:server] by service having >100'],
  [
    'routes with fewer than 10 requests today',
    'traces count [http.route:* kind:server] by http.route having <10 11T00:00..11T10:30',
  ],
  [
    'which customers sent more than 1000 requests',
    'traces count [customer.id:* kind:server] by customer.id having >1000',
  ],
  ['services with over 5 requests per second', 'traces rate [kind:server] by service having >5'],
  ['hosts with more than 50 error logs', 'logs count [host.name:* severity:>=error] by host.name having >50'],
  ['users with at least 5 failed logins', 'logs count [event.name:login_failed user.id:*] by user.id having >=5'],
  [
    'services with more than 2 versions',
    ['logs distinct(service.version) by service having >2', 'traces distinct(service.version) by service having >2'],
  ],
  [
    'client addresses with requests from more than 3 customers',
    'traces distinct(customer.id) [client.address:* kind:server] by client.address having >3',
  ],
  [
    'customers with an average invoice total over 500',
    'traces avg(invoice.total) [customer.id:*] by customer.id having >500',
  ],
  ['requests slower than 2 s', 'traces rows [duration:>2s kind:server]'],
  [
    'average latency of requests slower than 2 s by route',
    'traces avg(duration) [duration:>2s kind:server] by http.route',
  ],
  ['cpu utilization above 80%', 'refused unclear'],
  ['p95 latency above 2 s', 'refused unclear'],
  ['hosts above 80 GB cpu utilization', 'refused unclear'],
  ['services with more than 100 requests per minute', 'refused unclear'],
];
