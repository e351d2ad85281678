/** Questions about a bank. */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['ledger-api', 'card-gateway', 'fraud-check', 'statements', 'atm-proxy', 'login'];
const resource = [
  field('resource.host.name', ['vault-1', 'vault-2']),
  field('resource.service.version', ['2.0', '2.1']),
];

export const bank = {
  logs: signal(services, [
    field('account.type', ['savings', 'giro', 'credit']),
    field('branch', ['bern', 'basel']),
    field('customer.id', ['c-1'], 50_000),
    field('amount', [], 9_000, 'number'),
    field('exception.type', ['LimitExceeded', 'SocketTimeout']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/transfer', '/balance', '/cards/{id}']),
      field('http.request.method', ['GET', 'POST', 'PATCH']),
      field('http.response.status_code', ['200', '401', '500'], 3, 'number'),
      field('db.system.name', ['oracle']),
      field('rpc.service', ['Scoring']),
      field('card.brand', ['visa', 'mastercard']),
      field('retry.count', [], 5, 'number'),
      ...resource,
    ],
    ['authorize card'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/transfer', '/balance'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'resource.host.name': ['vault-1', 'vault-2'] }),
    metric('system.memory.usage', 'gauge', 'By', {
      'system.memory.state': ['used', 'free'],
      'resource.host.name': ['vault-1', 'vault-2'],
    }),
    metric('transfers.completed', 'counter', '{transfer}', { currency: ['CHF', 'EUR'] }),
    metric('transfers.rejected', 'counter', '{transfer}', { currency: ['CHF', 'EUR'] }),
    metric('atm.cash.level', 'gauge', 'CHF', { branch: ['bern', 'basel'] }),
    metric('login.sessions.active', 'gauge', '{session}', {}),
    metric('fraud.score', 'histogram', '1', {}),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const bankQuestions: readonly QuestionCase[] = [
  ['how many transfers were rejected this week', 'metric transfers.rejected increase/sum 09T00:00..11T10:30'],
  [
    'transfers completed per hour by currency yesterday',
    'metric transfers.completed increase/sum by currency each 1h 10T00:00..11T00:00',
  ],
  ['rejected transfers in EUR', 'metric transfers.rejected increase/sum [currency:EUR]'],
  ['cash level in bern', 'metric atm.cash.level avg/avg [branch:bern]'],
  ['lowest cash level by branch', 'metric atm.cash.level min/min by branch'],
  ['minimum cash level by branch today', 'metric atm.cash.level min/min by branch 11T00:00..11T10:30'],
  ['how many sessions are active', 'metric login.sessions.active avg/sum'],
  ['90th percentile of the fraud score', 'metric fraud.score quantile 0.9/sum'],
  ['average fraud score per hour over the last day', 'metric fraud.score avg/sum each 1h 10T10:30..11T10:30'],
  ['free memory on vault-1', 'metric system.memory.usage avg/sum [host.name:vault-1 system.memory.state:free]'],
  ['CPU of vault-2, last 30 minutes', 'metric system.cpu.utilization avg/avg [host.name:vault-2] 11T10:00..11T10:30'],
  ['which host has the highest cpu', 'metric system.cpu.utilization avg/avg by host.name limit 10'],
  [
    'login requests per minute over the last two hours',
    'traces count [kind:server service:login] each 1m 11T08:30..11T10:30',
  ],
  [
    'how many 401 responses did login return today',
    'traces count [http.response.status_code:401 kind:server service:login] 11T00:00..11T10:30',
  ],
  [
    'unsuccessful requests of card-gateway by card brand',
    'traces count [kind:server service:card-gateway status:error] by card.brand',
  ],
  [
    'what share of POST requests to /transfer failed yesterday',
    'share traces [status:error] of [http.request.method:POST http.route:"/transfer" kind:server] 10T00:00..11T00:00',
  ],
  [
    'error rate of fraud-check per hour since Monday',
    'share traces [status:error] of [kind:server service:fraud-check] each 1h 09T00:00..11T10:30',
  ],
  ['p50, p90 and p99 latency by route', 'traces p50(duration),p90(duration),p99(duration) [kind:server] by http.route'],
  ['worst latency of statements', 'traces max(duration) [kind:server service:statements]'],
  [
    'maximum response time of statements between 6am and 8am',
    'traces max(duration) [kind:server service:statements] 11T06:00..11T08:00',
  ],
  ['requests to /cards/{id} slower than one second', 'traces rows [duration:>1s http.route:"/cards/{id}" kind:server]'],
  ['how many spans have retry count above 3', 'traces count [retry.count:>3]'],
  ['average retry count for visa', 'traces avg(retry.count) [card.brand:visa]'],
  [
    'database spans of oracle longer than 50 ms in ledger-api',
    'traces rows [db.system.name:oracle duration:>50ms service:ledger-api]',
  ],
  ['p95 duration of client spans by rpc service', 'traces p95(duration) [kind:client] by rpc.service'],
  ['number of traces in the last hour', 'traces distinct(traceId)'],
  ['show 5 traces of atm-proxy', 'traces rows [NOT parentSpanId:* service:atm-proxy] limit 5'],
  [
    'compare vault-1 and vault-2',
    [
      'logs count [host.name:(vault-1 OR vault-2)] by host.name',
      'traces count [host.name:(vault-1 OR vault-2)] by host.name',
    ],
  ],
  ['logs of login for customer c-77', 'logs rows [customer.id:c-77 service:login]'],
  ['logs of branch bern with amount over 10000', 'logs rows [amount:>10000 branch:bern]'],
  ['total amount by account type in logs', 'logs sum(amount) by account.type'],
  ['what is the average amount per branch', 'logs avg(amount) by branch'],
  ['number of customers per branch', 'logs distinct(customer.id) by branch'],
  ['how many logs mention SocketTimeout', 'logs count ["SocketTimeout"]'],
  ['LimitExceeded per branch, last 7 days', 'logs count [exception.type:LimitExceeded] by branch 04T10:30..11T10:30'],
  ['error logs per service and host', 'logs count [severity:>=error] by service,host.name'],
  ['newest 10 warnings of fraud-check', 'logs rows [service:fraud-check severity:warn] limit 10'],
  ['debug logs of statements on March 9th', 'logs rows [service:statements severity:debug] 09T00:00..10T00:00'],
  ['log lines without branch', 'logs rows [NOT branch:*]'],
  ['logs of ledger-api not from vault-1', 'logs rows [NOT host.name:vault-1 service:ledger-api]'],
  ['how many log lines per account type except savings', 'logs count [NOT account.type:savings] by account.type'],
  [
    'top five branches by error logs in the past 24 hours',
    'logs count [branch:* severity:>=error] by branch limit 5 10T10:30..11T10:30',
  ],
  ['which exception occurs most often', 'logs count [exception.type:*] by exception.type limit 10'],
  ['are there any fatal logs', 'logs rows [severity:>=fatal]'],
  ['requests by version of card-gateway', 'traces count [kind:server service:card-gateway] by service.version'],
  [
    'latency of version 2.1 compared to 2.0',
    [
      'traces avg(duration) [kind:server service.version:(2.1 OR 2.0)] by service.version',
      'traces p95(duration) [kind:server service.version:(2.1 OR 2.0)] by service.version',
    ],
  ],
  [
    'how does latency of login look over time',
    [
      'traces avg(duration) [kind:server service:login] each 30000',
      'traces p95(duration) [kind:server service:login] each 30000',
    ],
  ],
  ['what is wrong with ledger-api', 'cause ledger-api'],
  ['reason for errors in login', 'cause login'],
  ['predict transfers for tomorrow', 'refused forecast'],
  ['set the log level of login to debug', 'refused change'],
  ['block customer c-1', 'refused unknown-name'],
  ['number of loans', 'refused unknown-name'],
  ['requests by continent', 'refused unknown-name'],
  ['eror rate of car-gateway', 'share traces [status:error] of [kind:server service:card-gateway]'],
  ['requests per secnd of ledgr-api', 'traces rate [kind:server service:ledger-api]'],
  ['errors in login', ['logs rows [service:login severity:>=error]', 'traces rows [service:login status:error]']],
  ['branch:bern amount:>500', 'logs rows [amount:>500 branch:bern]'],
  [
    'histogram_quantile(0.9, sum by (le) (rate(fraud_score_bucket[5m])))',
    'promql histogram_quantile(0.9, sum by (le) (rate(fraud_score_bucket[5m])))',
  ],
  ['how many GET and POST requests', 'traces count [http.request.method:(GET OR POST) kind:server]'],
];
