/** A university. The questions were written before the grammar parsed any of them. */
import { field, metric, nowMs, type QuestionCase, signal } from './question-case.ts';

const services = ['enrolment', 'timetable', 'exam-office', 'campus-login', 'grade-book', 'print-queue', 'canteen-pos'];
const hosts = ['uni-a', 'uni-b'];
const faculties = ['law', 'medicine', 'physics'];
const campuses = ['city', 'hill'];
const buildings = ['library', 'main-hall', 'lab-3'];
const resource = [
  field('resource.host.name', hosts),
  field('resource.service.version', ['2026.1', '2026.2']),
  field('resource.cloud.region', ['eu-north', 'eu-west']),
];

export const university = {
  logs: signal(services, [
    field('faculty', faculties),
    field('campus', campuses),
    field('student.id', ['s-100', 's-101'], 30_000),
    field('course.id', ['c-7'], 900),
    field('exam.result', ['passed', 'failed', 'absent']),
    field('application.status', ['submitted', 'accepted', 'rejected']),
    field('login.method', ['password', 'sso', 'token']),
    field('meal.price', [], 80, 'number'),
    field('pages', [], 300, 'number'),
    field('exception.type', ['CourseFull', 'PaperJam', 'LdapTimeout']),
    ...resource,
  ]),
  traces: signal(
    services,
    [
      field('http.route', ['/courses', '/courses/{id}', '/grades', '/login', '/timetables/{id}']),
      field('http.request.method', ['GET', 'POST', 'PUT']),
      field('http.response.status_code', ['200', '201', '401', '403', '404', '500', '502'], 7, 'number'),
      field('db.system.name', ['mariadb', 'redis']),
      field('faculty', faculties),
      field('device.type', ['laptop', 'phone']),
      ...resource,
    ],
    ['assign room', 'publish grades'],
  ),
  metrics: [
    metric('http.server.request.duration', 'histogram', 's', { 'http.route': ['/courses', '/grades'] }),
    metric('room.occupancy', 'gauge', '%', { building: buildings }),
    metric('room.temperature', 'gauge', 'Cel', { building: buildings }),
    metric('students.enrolled', 'gauge', '{student}', { faculty: faculties }),
    metric('meals.sold', 'counter', '{meal}', { campus: campuses, 'meal.type': ['vegan', 'meat'] }),
    metric('pages.printed', 'counter', '{page}', { printer: ['pr-1', 'pr-2'] }),
    metric('printer.toner.level', 'gauge', '%', { printer: ['pr-1', 'pr-2'] }),
    metric('wifi.clients', 'gauge', '{client}', { building: buildings }),
    metric('canteen.waiting.time', 'histogram', 's', { campus: campuses }),
    metric('system.cpu.utilization', 'gauge', '1', { 'host.name': hosts }),
    metric('system.memory.usage', 'gauge', 'By', { 'host.name': hosts, state: ['used', 'free'] }),
    metric('system.filesystem.utilization', 'gauge', '1', { 'host.name': hosts, mountpoint: ['/', '/home'] }),
    metric('system.disk.io', 'counter', 'By', { 'host.name': hosts, direction: ['read', 'write'] }),
    metric('process.open_file_descriptor.count', 'gauge', '{count}', { 'host.name': hosts }),
  ],
  deployments: [
    { service: 'grade-book', version: '2026.2', atMs: nowMs - 45 * 60_000 },
    { service: 'campus-login', version: '2026.2', atMs: nowMs - 26 * 3_600_000 },
  ],
};

const meanAndP95 = (rest: string) => [`traces avg(duration) ${rest}`, `traces p95(duration) ${rest}`];

/** It is Wednesday, 11 March 2026, 10:30 UTC. */
export const universityQuestions: readonly QuestionCase[] = [
  ['how many students are enrolled in law', 'metric students.enrolled avg/sum [faculty:law]'],
  ['enrolled students by faculty', 'metric students.enrolled avg/sum by faculty'],
  ['which faculty has the fewest students', 'metric students.enrolled avg/sum by faculty ascending limit 10'],
  ['how many vegan meals did we sell yesterday', 'metric meals.sold increase/sum [meal.type:vegan] 10T00:00..11T00:00'],
  [
    'meals sold on the hill campus this week, per day',
    'metric meals.sold increase/sum [campus:hill] each 1d 09T00:00..11T10:30',
  ],
  ['do we sell more vegan than meat meals', 'metric meals.sold increase/sum [meal.type:(vegan OR meat)] by meal.type'],
  ['how busy is the library', 'refused unknown-name'],
  [
    'room occupancy of the library between 8 and 10',
    'metric room.occupancy avg/avg [building:library] 11T08:00..11T10:00',
  ],
  ['buildings with an occupancy of more than 75 percent', 'metric room.occupancy avg/avg by building having >75'],
  ['how many buildings are more than 90% full', 'refused unknown-name'],
  ['which building is the warmest', 'metric room.temperature max/max by building'],
  ['buildings colder than 18 degrees', 'metric room.temperature avg/avg by building having <18'],
  ['printers with less than 10% toner', 'metric printer.toner.level avg/avg by printer having <10'],
  ['toner level of pr-2 right now', 'metric printer.toner.level last/avg [printer:pr-2]'],
  ['pages printed per printer last month', 'metric pages.printed increase/sum by printer 01T00:00..01T00:00'],
  [
    'printers that printed more than 500 pages today',
    'metric pages.printed increase/sum by printer having >500 11T00:00..11T10:30',
  ],
  ['clients on the wifi by building', 'metric wifi.clients avg/sum by building'],
  ['peak wifi clients in lab-3 yesterday', 'metric wifi.clients max/max [building:lab-3] 10T00:00..11T00:00'],
  [
    'average canteen waiting time by campus since 11 yesterday',
    'metric canteen.waiting.time avg/sum by campus 10T11:00..11T10:30',
  ],
  ['95th percentile of the waiting time in the canteen', 'metric canteen.waiting.time quantile 0.95/sum'],
  ['hosts running above 85% cpu', 'metric system.cpu.utilization avg/avg by host.name having >0.85'],
  [
    'is cpu higher on uni-a than on uni-b',
    'metric system.cpu.utilization avg/avg [host.name:(uni-a OR uni-b)] by host.name',
  ],
  ['how much memory is uni-b using', 'metric system.memory.usage avg/sum [host.name:uni-b state:used]'],
  ['mountpoints more than 80% full', 'metric system.filesystem.utilization avg/avg by mountpoint having >0.8'],
  ['how full is /home', 'metric system.filesystem.utilization avg/avg [mountpoint:"/home"]'],
  ['bytes written to disk per second by host', 'metric system.disk.io rate/sum [direction:write] by host.name'],
  ['open file descriptors per host', 'metric process.open_file_descriptor.count avg/sum by host.name'],
  ['error logs from the exam office since 7', 'logs rows [service:exam-office severity:>=error] 11T07:00..11T10:30'],
  ['last 20 warnings of timetable', 'logs rows [service:timetable severity:warn] limit 20'],
  [
    'how many LdapTimeouts did campus-login log today',
    'logs count [exception.type:LdapTimeout service:campus-login] 11T00:00..11T10:30',
  ],
  ['ldap timeouts per hour', 'logs count [exception.type:LdapTimeout] each 1h'],
  ['paper jams by campus this week', 'logs count [exception.type:PaperJam] by campus 09T00:00..11T10:30'],
  ['courses that were full', 'logs count [exception.type:CourseFull] by course.id'],
  ['rejected applications by faculty', 'logs count [application.status:rejected] by faculty'],
  [
    'how many applications were submitted in the last 7 days',
    'logs count [application.status:submitted] 04T10:30..11T10:30',
  ],
  ['what fraction of applications was accepted this year', 'refused unknown-name'],
  [
    'what fraction of applications was accepted this month',
    'share logs [application.status:accepted] of [application.status:*] 01T00:00..11T10:30',
  ],
  ['students who failed more than 2 exams', 'logs count [exam.result:failed student.id:*] by student.id having >2'],
  ['number of absent students per course', 'logs distinct(student.id) [exam.result:absent] by course.id'],
  [
    'logins by method',
    [
      'logs count [login.method:*] by login.method',
      'traces count [http.route:"/login" kind:server] by http.request.method',
    ],
  ],
  [
    'failed logins per faculty in the last 3 hours',
    'traces count [http.route:"/login" kind:server status:error] by faculty 11T07:30..11T10:30',
  ],
  [
    'how many 401s did we see on /login this morning',
    'traces count [http.response.status_code:401 http.route:"/login" kind:server] 11T00:00..11T10:30',
  ],
  ['average meal price', 'logs avg(meal.price)'],
  ['logs with more than 100 pages', 'logs rows [pages:>100]'],
  ['which student printed the most pages', 'refused unknown-name'],
  [
    'slowest requests of the grade book since the last deployment',
    'traces max(duration) [kind:server service:grade-book] by service,name,traceId,spanId limit 10 11T09:45..11T10:30',
  ],
  [
    'error rate of campus-login since the last deployment',
    'share traces [status:error] of [kind:server service:campus-login] 10T08:30..11T10:30',
  ],
  ['requests per second by service', 'traces rate [kind:server] by service'],
  ['which services get less than 100 requests', 'traces count [kind:server] by service having <100'],
  [
    'p99 latency of /courses for phones compared with laptops',
    'traces p99(duration) [device.type:(phone OR laptop) http.route:"/courses" kind:server] by device.type',
  ],
  ['how long does it take to publish grades', meanAndP95('[name:"publish grades"]')],
  ['assign room spans slower than 3 s', 'traces rows [duration:>3s name:"assign room"]'],
  ['why is enrolment returning errors', 'cause enrolment'],
  ['is the print queue healthy', 'cause print-queue'],
  ['what has changed in the exam office since yesterday', 'changes exam-office 10T00:00..11T10:30'],
  [
    'erors of the timetabel service',
    ['logs rows [service:timetable severity:>=error]', 'traces rows [service:timetable status:error]'],
  ],
  ['wifi cleints by bulding', 'metric wifi.clients avg/sum by building'],
  [
    'for medicine only',
    'logs count [application.status:rejected faculty:medicine]',
    ['rejected applications by faculty'],
  ],
  ['and the week before?', 'metric meals.sold increase/sum 02T00:00..09T00:00', ['meals sold this week']],
  [
    'break it down by printer',
    'metric pages.printed increase/sum by printer 11T00:00..11T10:30',
    ['pages printed today'],
  ],
];
