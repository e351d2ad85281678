/**
 * Converts targets of Blackbox exporter to checks: of jobs in a configuration of Prometheus (`scrape_configs`) and of
 * `Probe` manifests of Prometheus Operator. Their modules are in another document of the text, or those of the
 * exporter's own configuration file.
 */
import { type Fields, isFields, toFields } from '../../runtime/fields.ts';
import type { Problem } from './assertions.ts';
import type { OtherMonitor } from './other-monitor.ts';

/** Modules by name */
export type BlackboxModules = ReadonlyMap<string, Fields>;

/** Modules that the configuration file of Blackbox exporter has by default */
const defaultModules: BlackboxModules = new Map<string, Fields>([
  ['http_2xx', { prober: 'http' }],
  ['http_post_2xx', { prober: 'http', http: { method: 'POST' } }],
  ['tcp_connect', { prober: 'tcp' }],
  ['icmp', { prober: 'icmp' }],
]);

const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Which network of the probe is used does not affect what a check means. */
const ignoredSettings = ['preferred_ip_protocol', 'ip_protocol_fallback', 'source_ip_address'];
const httpSettings = new Set([
  ...ignoredSettings,
  ...['method', 'headers', 'body', 'valid_status_codes', 'follow_redirects', 'no_follow_redirects'],
  ...['fail_if_body_matches_regexp', 'fail_if_body_not_matches_regexp', 'valid_http_versions'],
]);
const socketSettings = new Set(ignoredSettings);

/** Returns assertions on the status: 2xx by default. */
const convertStatusCodes = (codes: readonly unknown[]): object[] => {
  if (codes.length > 0) return [{ source: 'status', operator: 'matches', value: `^(${codes.map(Number).join('|')})$` }];
  return [
    { source: 'status', operator: 'gte', value: 200 },
    { source: 'status', operator: 'lte', value: 299 },
  ];
};

/** Returns an assertion on the version of HTTP; none if all are valid. */
const convertVersions = (versions: readonly unknown[]): object[] => {
  const names = versions.map((version) => String(version).replaceAll('.', String.raw`\.`));
  return names.length === 0 ? [] : [{ source: 'protocol', operator: 'matches', value: `^(${names.join('|')})$` }];
};

const convertHttp = (settings: Fields, target: string): object => {
  const { method, headers, body } = settings;
  const toBodyAssertions = (field: string, operator: string): object[] =>
    toList(settings[field]).map((value) => ({ source: 'body', operator, value: String(value) }));
  const followsNone = settings['follow_redirects'] === false || settings['no_follow_redirects'] === true;
  const step = {
    url: /^https?:\/\//.test(target) ? target : `http://${target}`,
    ...(method !== undefined && { method }),
    ...(headers !== undefined && { headers }),
    ...(body !== undefined && { body }),
    ...(followsNone && { redirects: 0 }),
    assertions: [
      ...convertStatusCodes(toList(settings['valid_status_codes'])),
      ...convertVersions(toList(settings['valid_http_versions'])),
      ...toBodyAssertions('fail_if_body_matches_regexp', 'notMatches'),
      ...toBodyAssertions('fail_if_body_not_matches_regexp', 'matches'),
    ],
  };
  return { type: 'http', http: { steps: [step] } };
};

const convertTcp = (target: string): object => {
  const { hostname: host, port } = URL.parse(`tcp://${target}`) ?? {};
  return { type: 'tcp', tcp: { host, port: Number(port) } };
};

const findUnsupported = (settings: Fields, supported: ReadonlySet<string>): string[] =>
  Object.keys(settings).filter((name) => !supported.has(name));

/** Returns the fields of a check for a target, or why there are none. */
const convertTarget = (
  target: string,
  moduleName: string,
  modules: BlackboxModules,
): { readonly fields: object } | { readonly problem: string } => {
  const module = modules.get(moduleName) ?? defaultModules.get(moduleName);
  if (module === undefined)
    return { problem: `uses the module ${moduleName}: add the modules of Blackbox exporter as another document` };
  const prober = String(module['prober']);
  const settings = toFields(module[prober]);
  const supported = prober === 'http' ? httpSettings : socketSettings;
  const [unsupported] = findUnsupported(settings, supported);
  if (unsupported !== undefined)
    return {
      problem: `uses the module ${moduleName}, whose ${prober}.${unsupported} cannot be imported: write a check`,
    };
  const versions = toList(settings['valid_http_versions']);
  if (prober === 'http' && versions.length > 0 && !versions.includes('HTTP/1.1'))
    return {
      problem: `uses the module ${moduleName}, whose http.valid_http_versions cannot be imported: probes use HTTP/1.1`,
    };
  const timeout = typeof module['timeout'] === 'string' ? { timeout: module['timeout'] } : {};
  if (prober === 'http') return { fields: { ...timeout, ...convertHttp(settings, target) } };
  if (prober === 'tcp') return { fields: { ...timeout, ...convertTcp(target) } };
  if (prober === 'icmp') return { fields: { ...timeout, type: 'icmp', icmp: { host: target } } };
  return { problem: `uses the prober ${prober}: only http, tcp and icmp of Blackbox exporter are imported` };
};

/** Targets that one module probes */
interface ProbeJob {
  readonly path: string;
  readonly name: string;
  readonly module: string;
  readonly every: unknown;
  readonly groups: readonly { readonly targets: readonly unknown[]; readonly labels: unknown }[];
}

const convertJob = ({ path, name, module, every, groups }: ProbeJob, modules: BlackboxModules): OtherMonitor[] => {
  const monitors = groups.flatMap(({ targets, labels }) =>
    targets.map((target): OtherMonitor => {
      const converted = convertTarget(String(target), module, modules);
      const problems: Problem[] = 'problem' in converted ? [{ path, message: converted.problem }] : [];
      const fields = 'problem' in converted ? {} : converted.fields;
      return {
        path,
        problems,
        name: `${name}: ${String(target)}`,
        fields: { every: every ?? '1m', ...(isFields(labels) && { labels }), ...fields },
      };
    }),
  );
  if (monitors.length > 0) return monitors;
  const message = 'has no static targets: targets of a service discovery are not imported, so write a check for each';
  return [{ path, name, fields: {}, problems: [{ path, message }] }];
};

/**
 * Returns the jobs of a Prometheus configuration that probe targets through Blackbox exporter. Jobs of other exporters,
 * such as of snmp_exporter, also have modules.
 */
const listScrapeJobs = ({ scrape_configs: jobs, global }: Fields, modules: BlackboxModules): ProbeJob[] =>
  toList(jobs).flatMap((value, index) => {
    const job = toFields(value);
    const [module] = toList(toFields(job['params'])['module']);
    const isKnown = modules.has(String(module)) || defaultModules.has(String(module));
    if (module === undefined || !(isKnown || job['metrics_path'] === '/probe')) return [];
    return [
      {
        path: `scrape_configs.${index}`,
        name: String(job['job_name'] ?? ''),
        module: String(module),
        every: job['scrape_interval'] ?? toFields(global)['scrape_interval'],
        groups: toList(job['static_configs']).map((group) => ({
          targets: toList(toFields(group)['targets']),
          labels: toFields(group)['labels'],
        })),
      },
    ];
  });

/** Returns the job of a `Probe` of Prometheus Operator. */
const toProbeJob = ({ metadata, spec }: Fields): ProbeJob => {
  const { module, interval, targets, jobName } = toFields(spec);
  const staticTargets = toFields(toFields(targets)['staticConfig']);
  return {
    path: 'spec',
    name: String(jobName ?? toFields(metadata)['name'] ?? ''),
    module: String(module ?? 'http_2xx'),
    every: interval,
    groups: [{ targets: toList(staticTargets['static']), labels: staticTargets['labels'] }],
  };
};

const listJobs = (value: Fields, modules: BlackboxModules): ProbeJob[] | undefined => {
  if (value['kind'] === 'Probe' && isFields(value['spec'])) return [toProbeJob(value)];
  return Array.isArray(value['scrape_configs']) ? listScrapeJobs(value, modules) : undefined;
};

/** Returns the monitors of a document with targets; `undefined` for other documents. */
export const readBlackboxTargets = (value: Fields, modules: BlackboxModules): readonly OtherMonitor[] | undefined => {
  const jobs = listJobs(value, modules);
  if (jobs === undefined || jobs.length > 0) return jobs?.flatMap((job) => convertJob(job, modules));
  const message =
    'is a configuration of Prometheus without jobs of Blackbox exporter: they have params.module, and metrics_path: /probe or a module of a document here';
  return [{ path: 'scrape_configs', name: null, fields: {}, problems: [{ path: 'scrape_configs', message }] }];
};

/** Returns the names of the modules that a document uses. */
export const listUsedModules = (value: unknown, modules: BlackboxModules): readonly string[] =>
  isFields(value) ? (listJobs(value, modules) ?? []).map(({ module }) => module) : [];
