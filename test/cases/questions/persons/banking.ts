/** A bank, and the questions of five of its employees. */
import { field, metric, nowMs, type Persons, signal } from '../question-case.ts';

const services = [
  'core-ledger',
  'card-authorizer',
  'transfer-api',
  'fraud-screen',
  'mobile-gateway',
  'statement-printer',
];
const resource = [
  field('resource.host.name', ['bank-a1', 'bank-a2', 'bank-b1']),
  field('resource.service.version', ['5.2.0', '5.3.0']),
  field('resource.k8s.namespace.name', ['payments', 'cards']),
  field('resource.deployment.environment.name', ['production', 'staging']),
];

export const banking = {
  logs: signal(services, [
    field('account.type', ['checking', 'savings', 'business']),
    field('card.scheme', ['visa', 'mastercard', 'amex']),
    field('transfer.state', ['booked', 'rejected', 'pending']),
    field('customer.id', ['c-1', 'c-2'], 80_000),
    field('amount', [], 9_000, 'number'),
    field('exception.type', ['InsufficientFunds', 'LimitExceeded', 'TimeoutException']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/transfers', '/transfers/{id}', '/accounts/{id}/balance', '/cards/authorize', '/login']),
      field('http.request.method', ['GET', 'POST', 'PUT']),
      field('http.response.status_code', ['200', '201', '400', '401', '404', '429', '500', '503'], 8, 'number'),
      field('db.system.name', ['postgresql', 'redis']),
      field('db.collection.name', ['entries', 'accounts']),
      field('card.scheme', ['visa', 'mastercard', 'amex']),
      field('channel', ['app', 'web', 'atm', 'branch']),
      ...resource,
    ],
    ['screen transaction', 'book entry'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/transfers', '/login'] }),
    metric('transfers.booked', 'counter', '{transfer}', { channel: ['app', 'web', 'atm', 'branch'] }),
    metric('cards.declined', 'counter', '{card}', { 'card.scheme': ['visa', 'mastercard', 'amex'] }),
    metric('ledger.backlog', 'gauge', '{entry}', { 'host.name': ['bank-a1', 'bank-a2', 'bank-b1'] }),
    metric('atm.cash.level', 'gauge', '%', { 'atm.id': ['atm-01', 'atm-02'] }),
    metric('system.cpu.utilization', 'gauge', '1', { 'host.name': ['bank-a1', 'bank-a2', 'bank-b1'] }),
    metric('jvm.memory.used', 'gauge', 'By', { 'jvm.memory.type': ['heap', 'non_heap'] }),
    metric('k8s.container.restarts', 'gauge', '{restart}', { 'k8s.namespace.name': ['payments', 'cards'] }),
  ],
  deployments: [
    { service: 'card-authorizer', version: '5.3.0', atMs: nowMs - 110 * 60_000 },
    { service: 'transfer-api', version: '5.3.0', atMs: nowMs - 1_095 * 60_000 },
  ],
};

export const bankingPersons: Persons = {
  operator: [
    ['5xx card-authorizer', 'traces rows [http.response.status_code:[500 TO 599] kind:server service:card-authorizer]'],
    ['p99 transfer-api', 'traces p99(duration) [kind:server service:transfer-api]'],
    [
      'p95 latency of the card authorizer since the last deployment',
      'traces p95(duration) [kind:server service:card-authorizer] 11T08:40..11T10:30',
    ],
    ['error rate core-ledger', 'share traces [status:error] of [kind:server service:core-ledger]'],
    ['why is the card authorizer slow', 'cause card-authorizer'],
    ['what changed in transfer-api today', 'changes transfer-api 11T00:00..11T10:30'],
    ['what changed', 'changes *'],
    ['error logs fraud-screen newest first', 'logs rows [service:fraud-screen severity:>=error]'],
    ['restarts by namespace today', 'growth k8s.container.restarts by k8s.namespace.name 11T00:00..11T10:30'],
    ['cpu of bank-a1 now', 'metric system.cpu.utilization last/avg [host.name:bank-a1]'],
    ['requests per minute mobile-gateway', 'traces count [kind:server service:mobile-gateway] each 1m'],
    [
      '503s by service last 15m',
      'traces count [http.response.status_code:503 kind:server] by service 11T10:15..11T10:30',
    ],
    ['ledger backlog', 'metric ledger.backlog avg/sum'],
    [
      'slowest postgres calls',
      'traces max(duration) [db.system.name:postgresql kind:client] by service,name,traceId,spanId limit 10',
    ],
    ['top 5 routes by error rate', 'share traces [status:error] of [http.route:* kind:server] by http.route limit 5'],
  ],
  developer: [
    [
      'how many TimeoutExceptions did fraud screen throw since the last deployment',
      'logs count [exception.type:TimeoutException service:fraud-screen] 11T08:40..11T10:30',
    ],
    [
      'requests to /cards/authorize slower than 800ms',
      'traces rows [duration:>800ms http.route:"/cards/authorize" kind:server]',
    ],
    [
      'show me traces of transfer-api with errors',
      'traces rows [NOT parentSpanId:* service:transfer-api status:error]',
    ],
    ['median duration of book entry by host', 'traces p50(duration) [name:"book entry"] by host.name'],
    ['logs of statement-printer containing "page feed"', 'logs rows ["page feed" service:statement-printer]'],
    ['how often does screen transaction fail', 'traces count [name:"screen transaction" status:error]'],
    ['exceptions by type in core-ledger', 'logs count [exception.type:* service:core-ledger] by exception.type'],
    [
      'which version has more failed requests',
      'traces count [kind:server service.version:* status:error] by service.version limit 10',
    ],
    [
      'compare p95 latency of 5.2.0 and 5.3.0',
      'traces p95(duration) [kind:server service.version:(5.2.0 OR 5.3.0)] by service.version',
    ],
    [
      'POST requests to /transfers that returned 400',
      'traces rows [http.request.method:POST http.response.status_code:400 http.route:"/transfers" kind:server]',
    ],
    ['heap memory used', 'metric jvm.memory.used avg/sum [jvm.memory.type:heap]'],
    ['why does transfer-api fail', 'cause transfer-api'],
    [
      'redis calls of mobile-gateway per second',
      'traces rate [db.system.name:redis kind:client service:mobile-gateway]',
    ],
    [
      'warnings of card-authorizer in staging',
      'logs rows [deployment.environment.name:staging service:card-authorizer severity:warn]',
    ],
    ['distinct exception types in error logs', 'logs distinct(exception.type) [severity:>=error]'],
  ],
  manager: [
    [
      'Could you please tell me how many transfers were booked yesterday?',
      [
        'logs count [transfer.state:booked] 10T00:00..11T00:00',
        'metric transfers.booked increase/sum 10T00:00..11T00:00',
      ],
    ],
    [
      'How many cards were declined this week compared with last week?',
      'metric cards.declined increase/sum 09T00:00..11T10:30 than 02T00:00..09T00:00',
    ],
    [
      'What percentage of the requests to /login fail?',
      'share traces [status:error] of [http.route:"/login" kind:server]',
    ],
    ['Which card scheme is declined most often?', 'metric cards.declined increase/sum by card.scheme limit 10'],
    ['How many customers saw an error today?', 'logs distinct(customer.id) [severity:>=error] 11T00:00..11T10:30'],
    ['Why are transfers failing?', 'refused cause'],
    ['What has changed since yesterday?', 'changes * 10T00:00..11T10:30'],
    [
      'Transfers booked per channel this month, as a chart',
      'metric transfers.booked increase/sum by channel each 7200000 01T00:00..11T10:30',
    ],
    ['How is the mobile gateway doing?', 'cause mobile-gateway'],
    ['Will the ATMs run out of cash tomorrow?', 'refused forecast'],
    ['What is the average amount of rejected transfers?', 'logs avg(amount) [transfer.state:rejected]'],
    [
      'Has the error rate of the transfer API gone up compared with yesterday?',
      'share traces [status:error] of [kind:server service:transfer-api] than 10T09:30..10T10:30',
    ],
    ['What is the busiest channel?', 'traces count [channel:*] by channel limit 10'],
    [
      'How many logins failed last Friday?',
      'traces count [http.route:"/login" kind:server status:error] 06T00:00..07T00:00',
    ],
    ['Please restart the fraud screen', 'refused change'],
  ],
  support: [
    ['logs for customer c-20931', 'logs rows [customer.id:c-20931]'],
    [
      'what went wrong for customer c-1 in the last 2 days',
      'logs rows [customer.id:c-1 severity:>=error] 09T10:30..11T10:30',
    ],
    ['rejected transfers of business accounts', 'logs rows [account.type:business transfer.state:rejected]'],
    ['how many transfers are pending', 'logs count [transfer.state:pending]'],
    ['was there a problem with the app yesterday between 18:00 and 20:00', 'refused unknown-name'],
    [
      'LimitExceeded for visa cards',
      [
        'logs rows [card.scheme:visa exception.type:LimitExceeded k8s.namespace.name:cards]',
        'logs rows [card.scheme:visa exception.type:LimitExceeded]',
      ],
    ],
    [
      'how many amex and visa cards have been declined since 8 am',
      'metric cards.declined increase/sum [card.scheme:(amex OR visa)] 11T08:00..11T10:30',
    ],
    [
      'latest 5 errors of the statement printer',
      [
        'logs rows [service:statement-printer severity:>=error] limit 5',
        'traces rows [service:statement-printer status:error] limit 5',
      ],
    ],
    ['cash level of atm-02', 'metric atm.cash.level avg/avg [atm.id:atm-02]'],
    ['who changed the limit of customer c-2', 'refused elsewhere'],
    [
      'requests from the app that got 401 today',
      'traces rows [channel:app http.response.status_code:401 kind:server] 11T00:00..11T10:30',
    ],
    [
      'insufficient funds per hour since midnight',
      'logs count [exception.type:InsufficientFunds] each 1h 11T00:00..11T10:30',
    ],
    ['can customers log in at the moment', 'refused unclear'],
    ['why is mobile gateway giving errors since 9', 'cause mobile-gateway 11T09:00..11T10:30'],
    [
      'how long does a transfer take',
      [
        'traces avg(duration) [http.route:"/transfers" kind:server]',
        'traces p95(duration) [http.route:"/transfers" kind:server]',
      ],
    ],
  ],
  analyst: [
    ['sum of amount by account type and transfer state', 'logs sum(amount) by account.type,transfer.state'],
    [
      'share of 4xx responses by channel',
      'share traces [http.response.status_code:[400 TO 499]] of [kind:server] by channel',
    ],
    ['number of distinct customers per hour today', 'logs distinct(customer.id) each 1h 11T00:00..11T10:30'],
    [
      'p50, p90 and p99 latency of transfer-api by route',
      'traces p50(duration),p90(duration),p99(duration) [kind:server service:transfer-api] by http.route',
    ],
    [
      'transfers booked by channel, yesterday compared with the day before yesterday',
      'metric transfers.booked increase/sum by channel 10T00:00..11T00:00 than 09T00:00..10T00:00',
    ],
    ['top 3 hosts by average cpu utilization', 'metric system.cpu.utilization avg/avg by host.name limit 3'],
    ['lowest cash level by atm yesterday', 'metric atm.cash.level min/min by atm.id 10T00:00..11T00:00'],
    ['average amount for visa vs mastercard', 'logs avg(amount) [card.scheme:(visa OR mastercard)] by card.scheme'],
    ['requests by channel and status code', 'traces count [kind:server] by channel,http.response.status_code'],
    ['log volume per service per day last week', 'logs count by service each 1d 02T00:00..09T00:00'],
    ['max amount of booked transfers by account type', 'logs max(amount) [transfer.state:booked] by account.type'],
    ['fraction of requests slower than 1s by service', 'share traces [duration:>1s] of [kind:server] by service'],
    [
      'cards declined per 10 minutes for mastercard',
      'metric cards.declined increase/sum [card.scheme:mastercard] each 10m',
    ],
    ['errors per request by service', 'refused unclear'],
    ['standard deviation of amount', 'refused unknown-name'],
  ],
};
