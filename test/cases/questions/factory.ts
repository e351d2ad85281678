/** A maker of cars. The questions were written before the grammar parsed any of them. */
import { field, metric, nowMs, type QuestionCase, signal } from './question-case.ts';

const services = [
  'paint-shop',
  'press-line',
  'order-intake',
  'quality-gate',
  'parts-planner',
  'robot-control',
  'shift-app',
];
const hosts = ['plc-a', 'plc-b', 'edge-9'];
const plants = ['graz', 'leipzig', 'gent'];
const lines = ['l1', 'l2', 'l3'];
const robots = ['r-101', 'r-102', 'r-220'];
const resource = [
  field('resource.host.name', hosts),
  field('resource.service.version', ['20.3', '20.4']),
  field('resource.k8s.cluster.name', ['eu-plant', 'eu-office']),
];

export const factory = {
  logs: signal(services, [
    field('plant', plants),
    field('line', lines),
    field('shift', ['early', 'late', 'night']),
    field('vehicle.id', ['v-1', 'v-2'], 80_000),
    field('robot.id', robots),
    field('defect.type', ['scratch', 'misalignment', 'leak']),
    field('inspection.result', ['passed', 'failed', 'reworked']),
    field('downtime.minutes', [], 240, 'number'),
    field('exception.type', ['TorqueOutOfRange', 'PartMissing', 'PlcTimeout']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/orders', '/orders/{id}', '/inspections', '/parts/{id}', '/schedules']),
      field('http.request.method', ['GET', 'POST', 'PUT']),
      field('http.response.status_code', ['200', '201', '400', '404', '409', '500', '503'], 7, 'number'),
      field('db.system.name', ['oracle.db', 'redis']),
      field('plant', plants),
      field('supplier', ['bosch', 'magna', 'valeo']),
      field('order.quantity', [], 500, 'number'),
      ...resource,
    ],
    ['weld seam', 'book part', 'release order'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/orders', '/schedules'] }),
    metric('vehicles.completed', 'counter', '{vehicle}', { plant: plants, line: lines }),
    metric('parts.in.stock', 'gauge', '{part}', { plant: plants }),
    metric('robot.motor.temperature', 'gauge', 'Cel', { 'robot.id': robots }),
    metric('robot.emergency.stops', 'counter', '{stop}', { 'robot.id': robots, line: lines }),
    metric('energy.consumed', 'counter', 'kWh', { plant: plants }),
    metric('paint.tank.level', 'gauge', '%', { tank: ['t1', 't2'] }),
    metric('conveyor.speed', 'gauge', 'm/s', { line: lines }),
    metric('air.pressure', 'gauge', 'bar', { line: lines }),
    metric('cycle.time', 'histogram', 's', { line: lines }),
    metric('system.cpu.utilization', 'gauge', '1', { 'host.name': hosts }),
    metric('system.memory.usage', 'gauge', 'By', { 'host.name': hosts, state: ['used', 'free', 'cached'] }),
    metric('system.network.io', 'counter', 'By', {
      'host.name': hosts,
      'network.io.direction': ['receive', 'transmit'],
    }),
    metric('jvm.thread.count', 'gauge', '{thread}', { 'service.name': services }),
  ],
  deployments: [{ service: 'quality-gate', version: '20.4', atMs: nowMs - 150 * 60_000 }],
};

const meanAndP95 = (rest: string) => [`traces avg(duration) ${rest}`, `traces p95(duration) ${rest}`];

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const factoryQuestions: readonly QuestionCase[] = [
  ['how many vehicles did we complete yesterday', 'metric vehicles.completed increase/sum 10T00:00..11T00:00'],
  [
    'vehicles completed per line and day last week',
    'metric vehicles.completed increase/sum by line each 1d 02T00:00..09T00:00',
  ],
  ['how many cars did leipzig complete this week', 'refused unknown-name'],
  [
    'completed vehicles in graz and gent today',
    'metric vehicles.completed increase/sum [plant:(graz OR gent)] 11T00:00..11T10:30',
  ],
  [
    'did graz complete more vehicles than gent this week',
    'metric vehicles.completed increase/sum [plant:(graz OR gent)] by plant 09T00:00..11T10:30',
  ],
  [
    'which line completed the fewest vehicles today',
    'metric vehicles.completed increase/sum by line ascending limit 10 11T00:00..11T10:30',
  ],
  [
    'lines that completed fewer than 100 vehicles yesterday',
    'metric vehicles.completed increase/sum by line having <100 10T00:00..11T00:00',
  ],
  ['parts in stock by plant', 'metric parts.in.stock avg/sum by plant'],
  ['how many parts are in stock in gent at the moment', 'metric parts.in.stock last/sum [plant:gent]'],
  ['plants with less than 5000 parts in stock', 'metric parts.in.stock avg/sum by plant having <5000'],
  ['motor temperature of robot r-220', 'metric robot.motor.temperature avg/avg [robot.id:r-220]'],
  ['robots whose motor is hotter than 85 degrees', 'metric robot.motor.temperature avg/avg by robot.id having >85'],
  [
    'how many robots have a motor temperature above 85',
    'metric robot.motor.temperature avg/avg by robot.id having >85',
  ],
  ['hottest robot motor today', 'metric robot.motor.temperature max/max 11T00:00..11T10:30'],
  ['emergency stops per robot this shift', 'refused unknown-name'],
  [
    'which robot had the most emergency stops this month',
    'metric robot.emergency.stops increase/sum by robot.id limit 10 01T00:00..11T10:30',
  ],
  [
    'robots with more than 3 emergency stops today',
    'metric robot.emergency.stops increase/sum by robot.id having >3 11T00:00..11T10:30',
  ],
  ['energy consumed by plant, last month', 'metric energy.consumed increase/sum by plant 01T00:00..01T00:00'],
  [
    'how much energy did graz use yesterday between 6am and 2pm',
    'metric energy.consumed increase/sum [plant:graz] 10T06:00..10T14:00',
  ],
  ['how full are the paint tanks', 'metric paint.tank.level avg/avg'],
  ['tanks below a level of 15%', 'metric paint.tank.level avg/avg by tank having <15'],
  ['lowest air pressure on l2 since 6', 'metric air.pressure min/min [line:l2] 11T06:00..11T10:30'],
  ['conveyor speed by line right now', 'metric conveyor.speed last/avg by line'],
  ['median cycle time per line', 'metric cycle.time quantile 0.5/sum by line'],
  ['lines with a p95 cycle time of more than 90 seconds', 'metric cycle.time quantile 0.95/sum by line having >90'],
  [
    'which plant has the most downtimes longer than 30 minutes',
    'logs count [downtime.minutes:>30 plant:*] by plant limit 10',
  ],
  ['average downtime by line this week', 'logs avg(downtime.minutes) by line 09T00:00..11T10:30'],
  ['total downtime of l3 yesterday in minutes', 'logs sum(downtime.minutes) [line:l3] 10T00:00..11T00:00'],
  ['lines with more than an hour of total downtime today', 'refused unknown-name'],
  ['scratches by line and shift', 'logs count [defect.type:scratch] by line,shift'],
  ['how many leaks were found in the night shift', 'logs count [defect.type:leak shift:night]'],
  ['which defects are the most common in leipzig', 'logs count [defect.type:* plant:leipzig] by defect.type limit 10'],
  [
    'failed inspections per plant today',
    [
      'logs count [inspection.result:failed] by plant 11T00:00..11T10:30',
      'traces count [http.route:"/inspections" kind:server status:error] by plant 11T00:00..11T10:30',
    ],
  ],
  [
    'what share of inspections failed',
    [
      'share logs [inspection.result:failed] of [inspection.result:*]',
      'share traces [status:error] of [http.route:"/inspections" kind:server]',
    ],
  ],
  [
    'how many vehicles were reworked yesterday',
    [
      'logs count [inspection.result:reworked] 10T00:00..11T00:00',
      'logs distinct(vehicle.id) [inspection.result:reworked] 10T00:00..11T00:00',
    ],
  ],
  [
    'vehicles that were reworked more than twice this week',
    'logs count [inspection.result:reworked vehicle.id:*] by vehicle.id having >2 09T00:00..11T10:30',
  ],
  ['show me the log of vehicle v-77120', 'logs rows [vehicle.id:v-77120]'],
  [
    'PlcTimeout on plc-b in the last half hour',
    'logs rows [exception.type:PlcTimeout host.name:plc-b] 11T10:00..11T10:30',
  ],
  ['how often was a part missing on l1 today', 'logs count [exception.type:PartMissing line:l1] 11T00:00..11T10:30'],
  [
    'plc timeouts per hour since yesterday morning',
    'logs count [exception.type:PlcTimeout] each 1h 10T00:00..11T10:30',
  ],
  ['hosts with over 70% cpu usage', 'metric system.cpu.utilization avg/avg by host.name having >0.7'],
  [
    'how many hosts use more than 16 GB of memory',
    'metric system.memory.usage avg/sum [state:used] by host.name having >16000000000',
  ],
  ['cached memory per host', 'metric system.memory.usage avg/sum [state:cached] by host.name'],
  [
    'network traffic received by edge-9 per second',
    'metric system.network.io rate/sum [host.name:edge-9 network.io.direction:receive]',
  ],
  ['which service has the most threads', 'metric jvm.thread.count avg/sum by service.name limit 10'],
  ['slow orders', 'traces max(duration) [http.route:"/orders" kind:server] by service,name,traceId,spanId limit 10'],
  [
    'orders that took longer than 5 seconds this morning',
    'traces rows [duration:>5s http.route:"/orders" kind:server] 11T00:00..11T10:30',
  ],
  ['how many orders came in today', 'traces count [http.route:"/orders" kind:server] 11T00:00..11T10:30'],
  ['mean order quantity by supplier', 'traces avg(order.quantity) by supplier'],
  [
    'suppliers with an error rate above 3%',
    'share traces [status:error] of [kind:server supplier:*] by supplier having >3',
  ],
  [
    'response time of the parts planner, today versus yesterday',
    [
      'traces avg(duration) [kind:server service:parts-planner] 11T00:00..11T10:30 than 10T00:00..11T00:00',
      'traces p95(duration) [kind:server service:parts-planner] 11T00:00..11T10:30 than 10T00:00..11T00:00',
    ],
  ],
  ['average time to weld a seam', 'traces avg(duration) [name:"weld seam"]'],
  ['how long does release order take in graz', meanAndP95('[name:"release order" plant:graz]')],
  [
    'quality gate requests per minute since the last deployment',
    'traces count [kind:server service:quality-gate] each 1m 11T08:00..11T10:30',
  ],
  ['why did the press line stop responding', 'cause press-line'],
  ['why is order intake slower since the last deployment', 'cause order-intake 11T08:00..11T10:30'],
  [
    'paint shop warnings grouped by plant, excluding the night shift',
    'logs count [NOT shift:night service:paint-shop severity:warn] by plant',
  ],
  ['tempertures of robot motors by robot', 'metric robot.motor.temperature avg/avg by robot.id'],
  ['only the late shift', 'logs count [defect.type:scratch shift:late] by line', ['scratches by line']],
  [
    'and in leipzig?',
    'metric vehicles.completed increase/sum [plant:leipzig] 10T00:00..11T00:00',
    ['how many vehicles did we complete in graz yesterday'],
  ],
];
