/** Questions about a network of charging stations. Written before the grammar parsed them */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = [
  'session-manager',
  'billing',
  'station-gateway',
  'mobile-bff',
  'tariff-engine',
  'roaming hub',
  'fleet-portal',
];
const resource = [
  field('resource.host.name', ['edge-1', 'edge-2', 'core-7']),
  field('resource.service.version', ['2.8.0', '2.9.1']),
  field('resource.deployment.environment.name', ['prod', 'staging']),
  field('resource.k8s.pod.name', ['billing-7d9', 'billing-8fa'], 300),
];
export const charging = {
  logs: signal(services, [
    field('station.id', ['ST-1001', 'ST-1002'], 4000),
    field('connector.type', ['ccs', 'chademo', 'type2']),
    field('driver.id', ['d-1'], 90000),
    field('event', ['session_started', 'session_stopped', 'plug_fault', 'payment_declined']),
    field('exception.type', ['TimeoutError', 'CardDeclined', 'OcppProtocolError']),
    field('energy.kwh', [], 900, 'number'),
    field('country', ['NL', 'DE', 'FR']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/sessions', '/sessions/{id}/stop', '/tariffs', '/invoices']),
      field('http.request.method', ['GET', 'POST', 'PUT']),
      field(
        'http.response.status_code',
        ['200', '201', '400', '402', '404', '429', '500', '502', '503', '504'],
        10,
        'number',
      ),
      field('db.system.name', ['postgresql', 'redis']),
      field('db.collection.name', ['sessions', 'invoices']),
      field('messaging.destination.name', ['meter-values']),
      field('rpc.method', ['StartTransaction', 'Authorize']),
      field('country', ['NL', 'DE', 'FR']),
      field('connector.type', ['ccs', 'chademo', 'type2']),
      ...resource,
    ],
    ['POST /sessions', 'authorize card', 'SELECT sessions'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/sessions', '/tariffs'] }),
    metric('charging.energy.delivered', 'counter', 'kWh', { country: ['NL', 'DE', 'FR'] }),
    metric('charging.sessions.active', 'gauge', '{session}', { country: ['NL', 'DE', 'FR'] }),
    metric('stations.online', 'gauge', '{station}', { country: ['NL', 'DE', 'FR'] }),
    metric('payments.declined', 'counter', '{payment}', { reason: ['insufficient_funds', 'expired_card'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'host.name': ['edge-1', 'edge-2'] }),
    metric('system.memory.utilization', 'gauge', '1', { 'host.name': ['edge-1', 'edge-2'] }),
    metric('system.filesystem.usage', 'gauge', 'By', { 'host.name': ['edge-1', 'edge-2'], mountpoint: ['/', '/data'] }),
    metric('k8s.container.restarts', 'gauge', '{restart}', { 'k8s.pod.name': ['billing-7d9'] }),
    metric('kafka.consumer.lag', 'gauge', '{message}', { topic: ['meter-values'] }),
    metric('jvm.memory.used', 'gauge', 'By', { 'jvm.memory.type': ['heap', 'non_heap'] }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const chargingQuestions: readonly QuestionCase[] = [
  ['how many charging sessions failed to start today', 'refused unknown-name'],
  ["what's the error rate for billing right now", 'share traces [status:error] of [kind:server service:billing]'],
  [
    'slowest endpoints in the last hour',
    [
      'traces avg(duration) [http.route:*] by http.route limit 10',
      'traces p95(duration) [http.route:*] by http.route limit 10',
    ],
  ],
  [
    'which station has the most faults this week',
    'logs count [event:plug_fault station.id:*] by station.id limit 10 09T00:00..11T10:30',
  ],
  ['p95 latency for /sessions by country', 'traces p95(duration) [http.route:"/sessions" kind:server] by country'],
  [
    'show me payment declines since this morning',
    [
      'logs rows [event:payment_declined] 11T00:00..11T10:30',
      'metric payments.declined increase/sum 11T00:00..11T10:30',
    ],
  ],
  [
    'compare declined payments today with yesterday',
    [
      'logs count [event:payment_declined] 11T00:00..11T10:30 than 10T00:00..11T00:00',
      'metric payments.declined increase/sum 11T00:00..11T10:30 than 10T00:00..11T00:00',
    ],
  ],
  [
    'number of timeouts in the tariff engine yesterday between 1pm and 3pm',
    'logs count [exception.type:TimeoutError service:tariff-engine] 10T13:00..10T15:00',
  ],
  ['average energy per session in Germany', 'refused unknown-name'],
  [
    'how much energy did we deliver in NL last week',
    'metric charging.energy.delivered increase/sum [country:NL] 02T00:00..09T00:00',
  ],
  ['how many stations are online', 'metric stations.online avg/sum'],
  ['which country has the fewest stations online', 'metric stations.online avg/sum by country ascending limit 10'],
  [
    'any 5xx from mobile-bff in the last 15 minutes?',
    'traces rows [http.response.status_code:[500 TO 599] kind:server service:mobile-bff] 11T10:15..11T10:30',
  ],
  ['requests per second to roaming hub', 'traces rate [kind:server service:"roaming hub"]'],
  ['top 5 drivers by number of sessions', 'refused unknown-name'],
  ['is the consumer lag growing', 'metric kafka.consumer.lag avg/sum each 30000'],
  ['disk usage on edge-1', 'metric system.filesystem.usage avg/sum [host.name:edge-1]'],
  ['which pods restarted today', 'growth k8s.container.restarts by k8s.pod.name 11T00:00..11T10:30'],
  [
    'how often did billing restart in the last 24 hours',
    'growth k8s.container.restarts [k8s.pod.name:billing-*] 10T10:30..11T10:30',
  ],
  [
    'memory of edge-2 over the last 3 days',
    'metric system.memory.utilization avg/avg [host.name:edge-2] 08T10:30..11T10:30',
  ],
  ['logs from station ST-1001 with plug faults', 'logs rows [event:plug_fault station.id:ST-1001]'],
  [
    'traces longer than 3 seconds in billing that hit postgresql',
    'traces rows [db.system.name:postgresql duration:>3s kind:server service:billing]',
  ],
  [
    'what is the p99 of database calls to invoices',
    [
      'traces p99(duration) [db.collection.name:invoices db.system.name:* kind:client]',
      'traces p99(duration) [db.system.name:* http.route:"/invoices" kind:client]',
    ],
  ],
  ['show OcppProtocolError exceptions per station', 'logs count [exception.type:OcppProtocolError] by station.id'],
  ['how many distinct drivers charged yesterday', 'refused unknown-name'],
  ['what share of card payments get declined', 'refused unknown-name'],
  ['which routes return 429', 'traces count [http.response.status_code:429 kind:server] by http.route'],
  ['count 402s by route', 'traces count [http.response.status_code:402 kind:server] by http.route'],
  [
    'errors in session-manager but not in staging',
    [
      'logs rows [NOT deployment.environment.name:staging service:session-manager severity:>=error]',
      'traces rows [NOT deployment.environment.name:staging service:session-manager status:error]',
    ],
  ],
  ['latency of billing before and after the last deployment', 'refused unknown-name'],
  ['what changed in billing since 9am', 'changes billing 11T09:00..11T10:30'],
  ['why is mobile-bff slow', 'cause mobile-bff'],
  [
    'did errors increase after 9',
    [
      'logs count [severity:>=error] each 1m 11T09:00..11T10:30',
      'traces count [kind:server status:error] each 1m 11T09:00..11T10:30',
    ],
  ],
  [
    'how many invoices were created on Monday',
    'traces count [http.request.method:POST http.route:"/invoices" kind:server] 09T00:00..10T00:00',
  ],
  [
    'last 20 errors from station-gateway',
    [
      'logs rows [service:station-gateway severity:>=error] limit 20',
      'traces rows [service:station-gateway status:error] limit 20',
    ],
  ],
  [
    'failed authorize calls per minute',
    [
      'traces count [kind:client rpc.method:Authorize status:error] each 1m',
      'traces count [kind:server rpc.method:Authorize status:error] each 1m',
    ],
  ],
  [
    'what version is billing running',
    ['logs count [service:billing] by service.version', 'traces count [service:billing] by service.version'],
  ],
  ['average cpu of edge-1 and edge-2', 'metric system.cpu.utilization avg/avg [host.name:(edge-1 OR edge-2)]'],
  ['hosts with cpu above 80%', 'metric system.cpu.utilization avg/avg by host.name having >0.8'],
  ['how many requests took more than 500ms', 'traces count [duration:>500ms kind:server]'],
  ['busiest hour yesterday', 'refused unknown-name'],
  [
    'number of GET and POST requests by service',
    'traces count [http.request.method:(GET OR POST) kind:server] by service',
  ],
  [
    'median duration of stop requests in France',
    'traces p50(duration) [country:FR http.route:"/sessions/{id}/stop" kind:server]',
  ],
  ['warnings and errors of fleet-portal', 'logs rows [(severity:warn OR severity:>=error) service:fleet-portal]'],
  ['slowest query on redis', 'traces max(duration) [db.system.name:redis] by service,name,traceId,spanId limit 10'],
  ['messages waiting in meter-values', 'refused unknown-name'],
  ['how many sessions are active per country', 'metric charging.sessions.active avg/sum by country'],
  ['heap usage of the jvm', 'metric jvm.memory.used avg/sum [jvm.memory.type:heap]'],
  ['show session_started events for ccs connectors', 'logs rows [connector.type:ccs event:session_started]'],
  ['which exceptions are new today', 'refused unknown-name'],
];
