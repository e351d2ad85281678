/** A freight carrier, and the questions of five of its employees. */
import { field, metric, nowMs, type Persons, signal } from '../question-case.ts';

const services = [
  'dispatch',
  'route-planner',
  'dock-scheduler',
  'customs-gateway',
  'eu/tracking-api',
  'invoice-engine',
];
const resource = [
  field('resource.host.name', ['frt-01', 'frt-02']),
  field('resource.service.version', ['2.14.1', '2.15.0']),
  field('resource.k8s.pod.name', ['dispatch-7f-a', 'dispatch-7f-b'], 40),
];

export const freight = {
  logs: signal(services, [
    field('depot', ['HAM', 'MUC', 'LYS']),
    field('carrier', ['nordfreight', 'alpina', 'transmar']),
    field('load.state', ['delivered', 'delayed', 'refused']),
    field('truck.id', ['tr-100', 'tr-101'], 2_000),
    field('pallets', [], 33, 'number'),
    field('exception.type', ['CustomsRejected', 'RouteNotFound']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/loads', '/loads/{id}', '/docks', '/quotes', '/positions']),
      field('http.request.method', ['GET', 'POST', 'DELETE']),
      field('http.response.status_code', ['200', '201', '204', '400', '404', '409', '500', '504'], 8, 'number'),
      field('db.system.name', ['mysql', 'mongodb']),
      field('depot', ['HAM', 'MUC', 'LYS']),
      field('carrier', ['nordfreight', 'alpina', 'transmar']),
      ...resource,
    ],
    ['plan route', 'reserve dock'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/loads', '/quotes'] }),
    metric('loads.delivered', 'counter', '{load}', {
      depot: ['HAM', 'MUC', 'LYS'],
      carrier: ['nordfreight', 'alpina', 'transmar'],
    }),
    metric('fuel.consumed', 'counter', 'L', { carrier: ['nordfreight', 'alpina', 'transmar'] }),
    metric('trucks.moving', 'gauge', '{truck}', { depot: ['HAM', 'MUC', 'LYS'] }),
    metric('trailer.temperature', 'gauge', 'Cel', { 'truck.id': ['tr-100', 'tr-101'] }),
    metric('dock.occupancy', 'gauge', '1', { depot: ['HAM', 'MUC', 'LYS'] }),
    metric('system.memory.usage', 'gauge', 'By', {
      'host.name': ['frt-01', 'frt-02'],
      state: ['used', 'free', 'cached'],
    }),
    metric('positions.queue.size', 'gauge', '{position}', {}),
  ],
  deployments: [
    { service: 'dispatch', version: '2.15.0', atMs: nowMs - 190 * 60_000 },
    { service: 'route-planner', version: '2.15.0', atMs: nowMs - 40 * 60_000 },
  ],
};

export const freightPersons: Persons = {
  operator: [
    ['504 by route', 'traces count [http.response.status_code:504 kind:server] by http.route'],
    [
      'tracking api errors per minute',
      [
        'logs count [service:"eu/tracking-api" severity:>=error] each 1m',
        'traces count [kind:server service:"eu/tracking-api" status:error] each 1m',
      ],
    ],
    ['p95 dispatch since the last release', 'traces p95(duration) [kind:server service:dispatch] 11T07:20..11T10:30'],
    ['why is dispatch failing since the last deployment', 'cause dispatch 11T07:20..11T10:30'],
    ['what changed in the last 3 hours', 'changes * 11T07:30..11T10:30'],
    ['memory usage by host', 'metric system.memory.usage avg/sum [state:used] by host.name'],
    [
      'positions queue size over the last 6 hours as a graph',
      'metric positions.queue.size avg/sum each 5m 11T04:30..11T10:30',
    ],
    [
      'slowest routes of route planner',
      [
        'traces avg(duration) [http.route:* service:route-planner] by http.route limit 10',
        'traces p95(duration) [http.route:* service:route-planner] by http.route limit 10',
      ],
    ],
    ['top 10 pods by error logs', 'logs count [k8s.pod.name:* severity:>=error] by k8s.pod.name limit 10'],
    ['mongo p99', 'traces p99(duration) [db.system.name:mongodb]'],
    ['throughput by service', 'traces rate [kind:server] by service'],
    [
      'customs gateway 5xx rate',
      'share traces [http.response.status_code:[500 TO 599]] of [kind:server service:customs-gateway]',
    ],
    ['fatal logs today', 'logs rows [severity:>=fatal] 11T00:00..11T10:30'],
    ['error logs frt-02 after 9:15', 'logs rows [host.name:frt-02 severity:>=error] 11T09:15..11T10:30'],
    ['is anything unusual', 'refused anomaly'],
  ],
  developer: [
    [
      'RouteNotFound exceptions by depot since the last deployment of route-planner',
      'logs count [exception.type:RouteNotFound] by depot 11T09:50..11T10:30',
    ],
    [
      'how many requests to /quotes returned 409',
      'traces count [http.response.status_code:409 http.route:"/quotes" kind:server]',
    ],
    ['spans of plan route longer than 3 seconds', 'traces rows [duration:>3s name:"plan route"]'],
    [
      'latency of reserve dock at MUC',
      ['traces avg(duration) [depot:MUC name:"reserve dock"]', 'traces p95(duration) [depot:MUC name:"reserve dock"]'],
    ],
    ['mysql queries per minute by service', 'traces count [db.system.name:mysql] by service each 1m'],
    ['did the last deployment of dispatch make it slower', 'refused elsewhere'],
    [
      'error rate of dispatch after the deployment compared with before',
      'share traces [status:error] of [kind:server service:dispatch] 11T07:20..11T10:30 than 11T04:10..11T07:20',
    ],
    [
      'logs of the invoice engine with severity warn or error',
      'logs rows [(severity:warn OR severity:>=error) service:invoice-engine]',
    ],
    ['last 20 logs from dock-scheduler', 'logs rows [service:dock-scheduler] limit 20'],
    [
      'DELETE requests by status code',
      'traces count [http.request.method:DELETE kind:server] by http.response.status_code',
    ],
    [
      'traces of dispatch that include errors and took over 2s',
      'traces rows [NOT parentSpanId:* duration:>2s service:dispatch status:error]',
    ],
    ['number of spans per trace', 'refused unclear'],
    ['which services call mysql most', 'traces count [db.system.name:mysql kind:client] by service limit 10'],
    [
      'max duration of requests to /loads by version',
      'traces max(duration) [http.route:"/loads" kind:server] by service.version',
    ],
    ['service:dispatch status:error', 'traces rows [service:dispatch status:error]'],
  ],
  manager: [
    ['How many loads did we deliver last month?', 'metric loads.delivered increase/sum 01T00:00..01T00:00'],
    [
      'Which depot delivered the most loads this week?',
      'metric loads.delivered increase/sum by depot limit 10 09T00:00..11T10:30',
    ],
    ['How many trucks are moving right now?', 'metric trucks.moving last/sum'],
    ['How full are the docks in HAM?', 'metric dock.occupancy avg/avg [depot:HAM]'],
    [
      'How much fuel did alpina consume yesterday?',
      'metric fuel.consumed increase/sum [carrier:alpina] 10T00:00..11T00:00',
    ],
    ['Why is the tracking API so slow today?', 'cause eu/tracking-api 11T00:00..11T10:30'],
    ['What changed in dispatch since Monday?', 'changes dispatch 09T00:00..11T10:30'],
    ['How many loads were delayed in Lyon?', 'refused unknown-name'],
    ['What share of quotes fails?', 'share traces [status:error] of [http.route:"/quotes" kind:server]'],
    ['Are customers waiting longer than yesterday?', 'refused unknown-name'],
    [
      'Delivered loads per day and carrier this month',
      [
        'logs count [load.state:delivered] by carrier each 1d 01T00:00..11T10:30',
        'metric loads.delivered increase/sum by carrier each 1d 01T00:00..11T10:30',
      ],
    ],
    [
      'Please show me the slowest 5 requests of the invoice engine yesterday.',
      'traces max(duration) [kind:server service:invoice-engine] by service,name,traceId,spanId limit 5 10T00:00..11T00:00',
    ],
    ['What is the total number of delayed loads per carrier?', 'logs count [load.state:delayed] by carrier'],
    [
      'Compare the loads delivered by alpina and transmar',
      [
        'logs count [carrier:(alpina OR transmar) load.state:delivered] by carrier',
        'metric loads.delivered increase/sum [carrier:(alpina OR transmar)] by carrier',
      ],
    ],
    ['When will the queue be empty?', 'refused forecast'],
  ],
  support: [
    ['logs of truck tr-1044 this morning', 'logs rows [truck.id:tr-1044] 11T00:00..11T10:30'],
    ['refused loads in MUC by carrier', 'logs count [depot:MUC load.state:refused] by carrier'],
    [
      'temperature of the trailer tr-101 last night',
      'metric trailer.temperature avg/avg [truck.id:tr-101] 10T18:00..11T06:00',
    ],
    [
      'highest trailer temperature of tr-100 today',
      'metric trailer.temperature max/max [truck.id:tr-100] 11T00:00..11T10:30',
    ],
    ['customs rejected how many times yesterday', 'logs count [exception.type:CustomsRejected] 10T00:00..11T00:00'],
    [
      'errors with nordfreight',
      ['logs rows [carrier:nordfreight severity:>=error]', 'traces rows [carrier:nordfreight status:error]'],
    ],
    ['are there problems in the dock scheduler', 'logs rows [service:dock-scheduler severity:>=error]'],
    ['show delayed loads, most recent first', 'logs rows [load.state:delayed]'],
    ['how many positions are in the queue', 'metric positions.queue.size avg/sum'],
    ['which trucks had errors today', 'logs count [severity:>=error] by truck.id 11T00:00..11T10:30'],
    ['average pallets per load by depot', 'refused unknown-name'],
    ['average pallets of delivered loads', 'logs avg(pallets) [load.state:delivered]'],
    [
      'requests of transmar that failed with 400 or 404',
      'traces rows [carrier:transmar http.response.status_code:(400 OR 404) kind:server]',
    ],
    ['what happened to dispatch at 9am', 'cause dispatch 11T09:00..11T10:00'],
    ['why do quotes fail in route planner', 'cause route-planner'],
  ],
  analyst: [
    [
      'loads delivered by depot and carrier yesterday',
      [
        'logs count [load.state:delivered] by depot,carrier 10T00:00..11T00:00',
        'metric loads.delivered increase/sum by depot,carrier 10T00:00..11T00:00',
      ],
    ],
    [
      'fuel consumed per hour by carrier today',
      'metric fuel.consumed increase/sum by carrier each 1h 11T00:00..11T10:30',
    ],
    ['mean dock occupancy by depot last week', 'metric dock.occupancy avg/avg by depot 02T00:00..09T00:00'],
    ['total pallets per carrier since Monday', 'logs sum(pallets) by carrier 09T00:00..11T10:30'],
    ['distribution of load states by depot', 'logs count by load.state,depot'],
    ['unique trucks per depot in the last 24 hours', 'logs distinct(truck.id) by depot 10T10:30..11T10:30'],
    ['percentage of delayed loads by carrier', 'share logs [load.state:delayed] of [load.state:*] by carrier'],
    ['peak trucks moving by depot yesterday', 'metric trucks.moving max/max by depot 10T00:00..11T00:00'],
    [
      'ratio of 404 to all responses of the tracking api',
      'share traces [http.response.status_code:404] of [kind:server service:"eu/tracking-api"]',
    ],
    ['total trailer temperature', 'refused unclear'],
    ['90th percentile of request duration by depot', 'traces p90(duration) [kind:server] by depot'],
    [
      'requests by hour yesterday for alpina and nordfreight',
      'traces count [carrier:(alpina OR nordfreight) kind:server] each 1h 10T00:00..11T00:00',
    ],
    [
      'carriers with the fewest delivered loads',
      [
        'logs count [carrier:* load.state:delivered] by carrier ascending limit 10',
        'metric loads.delivered increase/sum by carrier ascending limit 10',
      ],
    ],
    ['logs without a depot', 'logs rows [NOT depot:*]'],
    ['number of logs by severity and service', 'logs count by severity,service'],
  ],
};
