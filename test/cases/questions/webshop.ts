/**
 * Questions about a web shop on Kubernetes, which depend on the role of words: what is served, sold, restarted or full.
 */
import { field, metric, type QuestionCase, signal } from './question-case.ts';

const services = ['shop/frontend', 'checkout', 'payments', 'inventory', 'courier-gateway', 'emails'];
const resource = [
  field('resource.host.name', ['node-1', 'node-2']),
  field('resource.k8s.namespace.name', ['shop', 'platform']),
  field('resource.service.version', ['2.3.1', '2.4.0']),
];

export const webshop = {
  logs: signal(services, [
    field('order.id', ['o-1'], 90_000),
    field('customer.tier', ['gold', 'basic']),
    field('exception.type', ['PaymentDeclined', 'TimeoutError']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/orders', '/orders/{id}', '/cart', '/products/{id}', '/charges']),
      field('http.request.method', ['GET', 'POST']),
      field('http.response.status_code', ['200', '201', '402', '404', '500', '503'], 6, 'number'),
      field('db.system.name', ['postgresql', 'redis']),
      field('db.collection.name', ['orders', 'stock', 'refunds']),
      field('customer.tier', ['gold', 'basic']),
      ...resource,
    ],
    ['POST /orders', 'GET /orders/{id}', 'GET /products/{id}', 'INSERT orders', 'UPDATE stock'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/orders', '/cart'] }),
    metric('shop.orders', 'counter', '{order}', { 'customer.tier': ['gold', 'basic'] }),
    metric('k8s.container.restarts', 'gauge', '{restart}', {
      'k8s.namespace.name': ['shop', 'platform'],
      'k8s.pod.name': ['checkout-1', 'payments-1'],
    }),
    metric('system.filesystem.usage', 'gauge', 'By', {
      'host.name': ['node-1', 'node-2'],
      device: ['/dev/sda', '/dev/sdb'],
      state: ['used', 'free', 'reserved'],
    }),
    metric('system.filesystem.utilization', 'gauge', '1', { 'host.name': ['node-1', 'node-2'] }),
    metric('hw.temperature', 'gauge', 'Cel', { 'host.name': ['node-1', 'node-2'] }),
    metric('db.client.connection.count', 'gauge', '{connection}', { 'db.client.connection.pool.name': ['main'] }),
    metric('stock.level', 'gauge', '', { warehouse: ['north', 'south'] }),
  ],
};

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const webshopQuestions: readonly QuestionCase[] = [
  [
    'how many 5xx did checkout return',
    'traces count [http.response.status_code:[500 TO 599] kind:server service:checkout]',
  ],
  ['how many 404s per route', 'traces count [http.response.status_code:404 kind:server] by http.route'],
  [
    'which endpoints of payments return 5xx',
    'traces count [http.response.status_code:[500 TO 599] kind:server service:payments] by http.route',
  ],
  [
    'client spans of checkout with status 503',
    'traces rows [http.response.status_code:503 kind:client service:checkout]',
  ],
  ['failed requests of payments per minute', 'traces count [kind:server service:payments status:error] each 1m'],
  ['how many orders failed', 'traces count [http.route:"/orders" kind:server status:error]'],
  [
    'failed orders in the last 2 hours',
    'traces rows [http.route:"/orders" kind:server status:error] 11T08:30..11T10:30',
  ],
  ['error rate of orders', 'share traces [status:error] of [http.route:"/orders" kind:server]'],
  ['slowest orders', 'traces max(duration) [http.route:"/orders" kind:server] by service,name,traceId,spanId limit 10'],
  [
    'orders per minute',
    ['metric shop.orders increase/sum each 1m', 'traces count [http.route:"/orders" kind:server] each 1m'],
  ],
  ['how many refunds failed', 'refused unknown-name'],
  ['failed queries on table refunds', 'traces rows [db.collection.name:refunds db.system.name:* status:error]'],
  ['error logs of payments, newest first', 'logs rows [service:payments severity:>=error]'],
  ['error logs of payments, most recent first', 'logs rows [service:payments severity:>=error]'],
  ['error logs of payments, oldest first', 'logs rows [service:payments severity:>=error] oldest'],
  ['first 20 error logs of payments, newest first', 'refused unclear'],
  [
    'requests of checkout, slowest first',
    'traces max(duration) [kind:server service:checkout] by service,name,traceId,spanId limit 10',
  ],
  ['fastest and slowest requests', 'refused unclear'],
  ['how many traces touched both checkout and payments', 'refused unclear'],
  [
    'how many error logs did both checkout and payments write',
    'logs count [service:(checkout OR payments) severity:>=error] by service',
  ],
  [
    'compare p95 latency of checkout and payments',
    'traces p95(duration) [kind:server service:(checkout OR payments)] by service',
  ],
  [
    'how often did gold customers get an error log compared with basic ones',
    'logs count [customer.tier:(gold OR basic) severity:>=error] by customer.tier',
  ],
  [
    'error rate of checkout today compared with yesterday',
    'share traces [status:error] of [kind:server service:checkout] 11T00:00..11T10:30 than 10T00:00..11T00:00',
  ],
  ['logs of neither checkout nor payments', 'logs rows [NOT service:checkout NOT service:payments]'],
  ['how many restarts were there today', 'growth k8s.container.restarts 11T00:00..11T10:30'],
  ['restarts per hour', 'refused unclear'],
  ['namespaces with the most restarts', 'growth k8s.container.restarts by k8s.namespace.name limit 10'],
  ['filesystem usage of node-1 now', 'metric system.filesystem.usage last/sum [host.name:node-1 state:used]'],
  ['free disk space by host', 'metric system.filesystem.usage avg/sum [state:free] by host.name'],
  ['filesystem usage by state', 'metric system.filesystem.usage avg/sum by state'],
  ['filesystem utilization by host', 'metric system.filesystem.utilization avg/avg by host.name'],
  ['total temperature of the hosts', 'refused unclear'],
  ['temperature of node-2', 'metric hw.temperature avg/avg [host.name:node-2]'],
  ['current connection count', 'metric db.client.connection.count last/sum'],
  ['stock level by warehouse', 'metric stock.level avg/avg by warehouse'],
  ['which service has the highest error rate', 'share traces [status:error] of [kind:server] by service limit 10'],
  ['top 3 services by error rate', 'share traces [status:error] of [kind:server] by service limit 3'],
  ['what is going on with checkout', 'cause checkout'],
  ['is payments healthy', 'cause payments'],
  [
    'show me 500s from checkout in the last hour',
    'traces rows [http.response.status_code:500 kind:server service:checkout]',
  ],
  ['error budget of checkout', 'refused elsewhere'],
  [
    'top 5 endpoints by latency',
    [
      'traces avg(duration) [http.route:* kind:server] by http.route limit 5',
      'traces p95(duration) [http.route:* kind:server] by http.route limit 5',
    ],
  ],
  [
    'which endpoints got slower today',
    [
      'traces avg(duration) [kind:server] by http.route each 5m 11T00:00..11T10:30',
      'traces p95(duration) [kind:server] by http.route each 5m 11T00:00..11T10:30',
    ],
  ],
  ['p50, p95 and p99 of checkout', 'traces p50(duration),p95(duration),p99(duration) [kind:server service:checkout]'],
  ['requests vs errors of payments', 'refused comparison'],
  [
    'traffic to the frontend over the last week',
    'traces count [kind:server service:"shop/frontend"] 04T10:30..11T10:30',
  ],
  ['peak requests per second yesterday', 'refused unclear'],
  ["what's the throughput of inventory", 'traces rate [kind:server service:inventory]'],
  ["compare today's traffic with last week", 'traces count [kind:server] 11T00:00..11T10:30 than 02T00:00..09T00:00'],
  ['how many gold customers placed orders', 'refused unknown-name'],
  [
    'declined payments in the last hour by customer tier',
    'logs count [exception.type:PaymentDeclined] by customer.tier',
  ],
  ['which customers are affected by errors', 'refused unknown-name'],
  [
    'pods that restarted in the platform namespace',
    'growth k8s.container.restarts [k8s.namespace.name:platform] by k8s.pod.name',
  ],
  ['crashlooping pods', 'refused unknown-name'],
  ['nodes low on disk', 'refused unknown-name'],
  [
    'disk usage per node in percent',
    [
      'metric system.filesystem.usage avg/sum [state:used] by host.name',
      'metric system.filesystem.utilization avg/avg by host.name',
    ],
  ],
  ['how hot is node-1', 'metric hw.temperature avg/avg [host.name:node-1]'],
  ['db connections in use', 'metric db.client.connection.count avg/sum'],
  ['stock in the north warehouse', 'metric stock.level avg/avg [warehouse:north]'],
  ['when did errors start', 'refused unknown-name'],
  ['list traces with errors from checkout to payments', 'refused unclear'],
  [
    'traces through courier-gateway with errors',
    'traces rows [NOT parentSpanId:* service:courier-gateway status:error]',
  ],
  ['find the trace for order o-1', 'refused unknown-name'],
  ['logs for trace 4bf92f3577b34da6a3ce929d0e0e4736', 'logs rows [traceId:4bf92f3577b34da6a3ce929d0e0e4736]'],
  [
    'errors right after 10:00',
    ['logs rows [severity:>=error] 11T10:00..11T10:30', 'traces rows [status:error] 11T10:00..11T10:30'],
  ],
  [
    'errors between 9 and 10 today',
    ['logs rows [severity:>=error] 11T09:00..11T10:00', 'traces rows [status:error] 11T09:00..11T10:00'],
  ],
  [
    '5xx rate by service for the last 6 hours every 10 minutes',
    'share traces [http.response.status_code:[500 TO 599]] of [kind:server] by service each 10m 11T04:30..11T10:30',
  ],
  [
    'which database is slowest',
    [
      'traces avg(duration) [db.system.name:*] by db.system.name limit 10',
      'traces p95(duration) [db.system.name:*] by db.system.name limit 10',
    ],
  ],
  [
    'how long do orders inserts take',
    ['traces avg(duration) [name:"INSERT orders"]', 'traces p95(duration) [name:"INSERT orders"]'],
  ],
  ['number of SQL queries by table', 'traces count [db.system.name:*] by db.collection.name'],
  ['most expensive queries', 'traces max(duration) [db.system.name:*] by service,name,traceId,spanId limit 10'],
  [
    'slowest products pages',
    'traces max(duration) [http.route:"/products/{id}" kind:server] by service,name,traceId,spanId limit 10',
  ],
  [
    'GET requests to cart that took over 2 seconds',
    'traces rows [duration:>2s http.request.method:GET http.route:"/cart" kind:server]',
  ],
  ['how many requests does version 2.4.0 serve', 'traces count [kind:server service.version:2.4.0]'],
  [
    'is 2.4.0 slower than 2.3.1',
    [
      'traces avg(duration) [kind:server service.version:(2.4.0 OR 2.3.1)] by service.version',
      'traces p95(duration) [kind:server service.version:(2.4.0 OR 2.3.1)] by service.version',
    ],
  ],
  [
    'error rate of 2.4.0 versus 2.3.1',
    'share traces [status:error] of [kind:server service.version:(2.4.0 OR 2.3.1)] by service.version',
  ],
  [
    'latency of gold customers compared with basic',
    [
      'traces avg(duration) [customer.tier:(gold OR basic) kind:server] by customer.tier',
      'traces p95(duration) [customer.tier:(gold OR basic) kind:server] by customer.tier',
    ],
  ],
  ['how much did we sell today', 'refused unknown-name'],
  [
    'orders per hour this week',
    [
      'metric shop.orders increase/sum each 1h 09T00:00..11T10:30',
      'traces count [http.route:"/orders" kind:server] each 1h 09T00:00..11T10:30',
    ],
  ],
  ['average number of orders per minute yesterday', 'refused unclear'],
  [
    'order drop since yesterday',
    [
      'metric shop.orders increase/sum each 900000 10T00:00..11T10:30',
      'traces count [http.route:"/orders" kind:server] each 900000 10T00:00..11T10:30',
    ],
  ],
  ['failed emails', 'traces rows [service:emails status:error]'],
  ['why do emails fail', 'cause emails'],
  ['timeouts in payments by host', 'logs count [exception.type:TimeoutError service:payments] by host.name'],
  ['the last 10 logs of courier gateway', 'logs rows [service:courier-gateway] limit 10'],
  [
    'logs with severity error or fatal from shop namespace',
    'logs rows [(severity:error OR severity:>=fatal) k8s.namespace.name:shop]',
  ],
  ['warnings per service today', 'logs count [severity:warn] by service 11T00:00..11T10:30'],
  ['anything unusual in inventory', 'refused anomaly'],
  ['show all services', ['logs count by service', 'traces count by service']],
  ['which service logs the most', 'logs count by service limit 10'],
  ['log volume by service over the last day', 'logs count by service 10T10:30..11T10:30'],
  ['how many log lines per minute does checkout write', 'logs count [service:checkout] each 1m'],
  ['messages about refunds', 'logs rows ["refunds"]'],
  ['count distinct orders in error logs', 'logs distinct(order.id) [severity:>=error]'],
  ['share of errors caused by timeouts', 'refused unknown-name'],
  ['refund queries by service', 'traces count [db.collection.name:refunds db.system.name:*] by service'],
  ['who is calling payments', 'refused elsewhere'],
  ['the busiest route', 'traces count [http.route:*] by http.route limit 10'],
  [
    'how many 4xx and 5xx',
    'traces count [(http.response.status_code:[400 TO 499] OR http.response.status_code:[500 TO 599]) kind:server]',
  ],
  ['status code distribution for checkout', 'refused unknown-name'],
  ['http methods used by frontend', 'refused unclear'],
  ['long running transactions', 'traces max(duration) [kind:server] by service,name,traceId,spanId limit 10'],
  ['average latency excluding 404s', 'traces avg(duration) [NOT http.response.status_code:404 kind:server]'],
  ['requests without customer tier', 'traces rows [NOT customer.tier:* kind:server]'],
  ['number of hosts', ['logs distinct(host.name)', 'traces distinct(host.name)']],
  [
    'how many versions of checkout are running',
    ['logs distinct(service.version) [service:checkout]', 'traces distinct(service.version) [service:checkout]'],
  ],
];
