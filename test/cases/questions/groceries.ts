/** Questions about a grocery delivery service. Written before the grammar parsed them */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = [
  'storefront',
  'basket',
  'order-service',
  'picker-app',
  'dispatch',
  'driver-app',
  'stock',
  'promo-engine',
  'payments',
];
const resource = [
  field('resource.host.name', ['node-a', 'node-b', 'node-c']),
  field('resource.service.version', ['14.1', '14.2']),
  field('resource.deployment.environment.name', ['production', 'canary']),
  field('resource.k8s.namespace.name', ['shop', 'logistics']),
];
export const groceries = {
  logs: signal(services, [
    field('store', ['Leeds', 'York', 'Hull']),
    field('order.id', ['o-1'], 90000),
    field('customer.tier', ['plus', 'basic']),
    field('event.name', ['order_placed', 'order_cancelled', 'substitution_made', 'delivery_late']),
    field('exception.type', ['OutOfStockException', 'SocketTimeoutException', 'PaymentRefused', 'DeadlockError']),
    field('basket.value', [], 900, 'number'),
    field('slot', ['morning', 'evening']),
    field('vehicle', ['van-1', 'van-2']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/basket', '/basket/items', '/checkout', '/orders/{id}', '/slots']),
      field('http.request.method', ['GET', 'POST', 'PUT', 'DELETE']),
      field('http.response.status_code', ['200', '201', '400', '401', '404', '409', '500', '502', '504'], 9, 'number'),
      field('db.system.name', ['mysql', 'redis', 'mongodb']),
      field('store', ['Leeds', 'York', 'Hull']),
      field('customer.tier', ['plus', 'basic']),
      field('messaging.destination.name', ['orders', 'stock-updates']),
      field('rpc.service', ['StockService']),
      ...resource,
    ],
    ['POST /checkout', 'GET /basket', 'reserve slot', 'allocate van'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/basket', '/checkout'] }),
    metric('orders.placed', 'counter', '{order}', { store: ['Leeds', 'York', 'Hull'] }),
    metric('orders.cancelled', 'counter', '{order}', { reason: ['customer', 'stock'] }),
    metric('items.picked', 'counter', '{item}', { store: ['Leeds', 'York', 'Hull'] }),
    metric('picking.duration', 'histogram', 's', { store: ['Leeds', 'York', 'Hull'] }),
    metric('delivery.delay', 'histogram', 'min', { store: ['Leeds', 'York', 'Hull'] }),
    metric('vans.available', 'gauge', '{van}', { store: ['Leeds', 'York', 'Hull'] }),
    metric('freezer.temperature', 'gauge', 'Cel', { store: ['Leeds', 'York', 'Hull'] }),
    metric('k8s.pod.cpu.usage', 'gauge', '{cpu}', {
      'k8s.pod.name': ['basket-5c9', 'dispatch-77f', 'stock-aa1'],
      'k8s.namespace.name': ['shop', 'logistics'],
    }),
    metric('k8s.pod.memory.usage', 'gauge', 'By', { 'k8s.pod.name': ['basket-5c9', 'dispatch-77f', 'stock-aa1'] }),
    metric('k8s.container.restarts', 'gauge', '{restart}', {
      'k8s.pod.name': ['basket-5c9'],
      'k8s.namespace.name': ['shop', 'logistics'],
    }),
    metric('system.cpu.utilization', 'gauge', '1', { 'host.name': ['node-a', 'node-b'] }),
    metric('system.network.io', 'counter', 'By', {
      'host.name': ['node-a', 'node-b'],
      direction: ['transmit', 'receive'],
    }),
    metric('kafka.consumer_group.lag', 'gauge', '1', {
      group: ['dispatch', 'stock'],
      topic: ['orders', 'stock-updates'],
    }),
    metric('db.client.connection.count', 'gauge', '{connection}', { state: ['idle', 'used'] }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const groceriesQuestions: readonly QuestionCase[] = [
  [
    'how many orders were placed in Leeds today',
    [
      'logs count [event.name:order_placed store:Leeds] 11T00:00..11T10:30',
      'metric orders.placed increase/sum [store:Leeds] 11T00:00..11T10:30',
    ],
  ],
  [
    'orders cancelled because of stock this week',
    [
      'logs rows [event.name:order_cancelled service:stock] 09T00:00..11T10:30',
      'metric orders.cancelled increase/sum [reason:stock] 09T00:00..11T10:30',
    ],
  ],
  ['cancellations per store', 'refused unknown-name'],
  ["what's the average picking time in York", 'metric picking.duration avg/sum [store:York]'],
  ['is the freezer in Hull too warm', 'refused unknown-name'],
  ['highest freezer temperature yesterday', 'metric freezer.temperature max/max 10T00:00..11T00:00'],
  ['late deliveries per hour since noon', 'refused unclear'],
  ['how many vans are free right now', 'metric vans.available last/sum'],
  ['which store has the fewest vans available', 'metric vans.available avg/sum by store ascending limit 10'],
  [
    'checkout error rate over the last 2 hours',
    'share traces [status:error] of [http.route:"/checkout" kind:server] 11T08:30..11T10:30',
  ],
  ['p99 of checkout by store', 'traces p99(duration) [http.route:"/checkout" kind:server] by store'],
  [
    'show the slowest basket requests',
    'traces max(duration) [kind:server service:basket] by service,name,traceId,spanId limit 10',
  ],
  ['why is checkout failing', 'refused cause'],
  ['what changed in dispatch since yesterday', 'changes dispatch 10T00:00..11T10:30'],
  [
    'errors from picker-app this morning',
    [
      'logs rows [service:picker-app severity:>=error] 11T00:00..11T10:30',
      'traces rows [service:picker-app status:error] 11T00:00..11T10:30',
    ],
  ],
  ['out of stock exceptions by store', 'logs count [exception.type:OutOfStockException] by store'],
  [
    'deadlocks in the order service in the last day',
    'logs rows [exception.type:DeadlockError service:order-service] 10T10:30..11T10:30',
  ],
  ['socket timeouts per service', 'logs count [exception.type:SocketTimeoutException] by service'],
  [
    'how many requests to /basket/items were 409',
    'traces count [http.response.status_code:409 http.route:"/basket/items" kind:server]',
  ],
  [
    '5xx by service in the last 30 minutes',
    'traces count [http.response.status_code:[500 TO 599] kind:server] by service 11T10:00..11T10:30',
  ],
  ['cpu usage of basket', 'metric k8s.pod.cpu.usage avg/sum [k8s.pod.name:basket-*]'],
  [
    'memory of dispatch over the last 24h',
    'metric k8s.pod.memory.usage avg/sum [k8s.pod.name:dispatch-*] 10T10:30..11T10:30',
  ],
  ['which pods use the most memory', 'metric k8s.pod.memory.usage avg/sum by k8s.pod.name limit 10'],
  ['did any pod restart in the logistics namespace today', 'refused unknown-name'],
  ['network traffic sent by node-a', 'metric system.network.io increase/sum [direction:transmit host.name:node-a]'],
  ['consumer lag of dispatch on orders', 'metric kafka.consumer_group.lag avg/sum [group:dispatch topic:orders]'],
  ['how many db connections are idle', 'metric db.client.connection.count avg/sum [state:idle]'],
  ['average basket value of plus customers', 'logs avg(basket.value) [customer.tier:plus]'],
  [
    'total basket value by store yesterday',
    ['logs sum(basket.value) by store 10T00:00..11T00:00', 'traces count [service:basket] by store 10T00:00..11T00:00'],
  ],
  ['number of distinct orders with errors', 'logs distinct(order.id) [severity:>=error]'],
  ['which version has more errors, 14.1 or 14.2', 'refused unclear'],
  [
    'compare latency of production and canary',
    [
      'traces avg(duration) [deployment.environment.name:(production OR canary) kind:server] by deployment.environment.name',
      'traces p95(duration) [deployment.environment.name:(production OR canary) kind:server] by deployment.environment.name',
    ],
  ],
  ['traces slower than 2s in promo-engine', 'traces rows [NOT parentSpanId:* duration:>2s service:promo-engine]'],
  [
    'POST requests to checkout that failed with 502',
    'traces rows [http.request.method:POST http.response.status_code:502 http.route:"/checkout" kind:server]',
  ],
  ['logs of van-2 between 8 and 9', 'logs rows [vehicle:van-2] 11T08:00..11T09:00'],
  [
    'what errors happened around 9:15',
    ['logs rows [severity:>=error] 11T09:00..11T09:30', 'traces rows [status:error] 11T09:00..11T09:30'],
  ],
  [
    'last error in payments',
    ['logs rows [service:payments severity:>=error]', 'traces rows [service:payments status:error]'],
  ],
  ['top 3 exceptions in stock', 'logs count [exception.type:* service:stock] by exception.type limit 3'],
  [
    'are there errors in canary',
    [
      'logs rows [deployment.environment.name:canary severity:>=error]',
      'traces rows [deployment.environment.name:canary status:error]',
    ],
  ],
  ['how many customers got a 504', 'refused unknown-name'],
  [
    'requests per minute to storefront over the last 3 hours as a graph',
    'traces count [kind:server service:storefront] each 1m 11T07:30..11T10:30',
  ],
  [
    'did the error rate of payments go up since 8',
    'share traces [status:error] of [kind:server service:payments] each 120000 11T08:00..11T10:30',
  ],
  ['how slow is redis', ['traces avg(duration) [db.system.name:redis]', 'traces p95(duration) [db.system.name:redis]']],
  ['mysql queries slower than 100ms', 'traces rows [db.system.name:mysql duration:>100ms]'],
  ['number of mongodb calls by service', 'traces count [db.system.name:mongodb kind:client] by service'],
  ['which service makes the most redis calls', 'traces count [db.system.name:redis kind:client] by service limit 10'],
  ['unauthorized requests today', 'traces rows [http.response.status_code:401 kind:server] 11T00:00..11T10:30'],
  ['orders placed vs cancelled', 'logs count [event.name:(order_placed OR order_cancelled)] by event.name'],
  [
    'busiest store today',
    [
      'logs count [store:*] by store limit 10 11T00:00..11T10:30',
      'traces count [store:*] by store limit 10 11T00:00..11T10:30',
    ],
  ],
  ['messages on stock-updates per minute', 'refused unknown-name'],
  ['share of requests from plus customers', 'share traces [customer.tier:plus] of [kind:server]'],
  [
    'how long do deliveries get delayed in Leeds',
    ['metric delivery.delay avg/sum [store:Leeds]', 'metric delivery.delay quantile 0.95/sum [store:Leeds]'],
  ],
  ['what is the status of the driver app', 'traces count [service:driver-app] by status'],
  ['how many substitutions were made on Monday', 'logs count [event.name:substitution_made] 09T00:00..10T00:00'],
  ['who placed the most orders', 'refused elsewhere'],
  ['logs containing refund', 'logs rows ["refund"]'],
  ['payment refusals by customer tier', 'logs count [exception.type:PaymentRefused] by customer.tier'],
  [
    'orders between 2pm and 4pm yesterday',
    [
      'metric orders.cancelled increase/sum 10T14:00..10T16:00',
      'metric orders.placed increase/sum 10T14:00..10T16:00',
      'traces rows [http.route:"/orders/{id}" kind:server] 10T14:00..10T16:00',
    ],
  ],
  [
    'median checkout time this week compared with last week',
    'traces p50(duration) [http.route:"/checkout" kind:server] 09T00:00..11T10:30 than 02T00:00..09T00:00',
  ],
  ['show me logs', 'logs rows'],
];
