/** Settings of each check type: its form fields, and the defaults of a new check */
import type { z } from 'zod';
import type { Assertion } from '../../../subjects/synthetics/assertions.ts';
import type { CheckFields } from '../../../subjects/synthetics/check.ts';

export type CheckDraft = z.input<typeof CheckFields>;
export type CheckType = CheckDraft['type'];
/** Writable settings of a type */
type SettingsByType<SelectedType extends CheckType> = NonNullable<CheckDraft[SelectedType]>;
export type Step = SettingsByType<'http'>['steps'][number];
export type AssertionFields = z.input<typeof Assertion>;
type Source = AssertionFields['source'];

/**
 * Kind of a form field. An empty `optional` text is `null`; `lines` is multi-line text, which is also `null` if empty;
 * `flag` is true by default
 */
type FieldKind = 'text' | 'optional' | 'lines' | 'number' | 'flag' | 'pairs' | 'list' | readonly string[];

export interface SettingField<Name extends string = string> {
  readonly name: Name;
  readonly label: string;
  readonly kind: FieldKind;
  readonly hint?: string;
}
type SettingFields<Settings> = readonly SettingField<Exclude<keyof Settings & string, 'assertions'>>[];
export type Authentication = NonNullable<Step['authentication']>;
export type ClientCertificate = NonNullable<Step['clientCertificate']>;
export type Extraction = NonNullable<Step['extract']>[number];

export const typeNames: Readonly<Record<CheckType, string>> = {
  http: 'HTTP',
  tcp: 'TCP',
  tls: 'TLS certificate',
  dns: 'DNS',
  icmp: 'Ping',
  grpc: 'gRPC',
  websocket: 'WebSocket',
  browser: 'Browser',
  heartbeat: 'Heartbeat',
};

const hostField = { name: 'host', label: 'Host', kind: 'text' } as const;
const portField = { name: 'port', label: 'Port', kind: 'number' } as const;
const serverNameField = { name: 'serverName', label: 'Server name (SNI)', kind: 'optional' } as const;
const verifyCertificateField = { name: 'verifyCertificate', label: 'Verify certificate', kind: 'flag' } as const;
/** Placeholder of a variable, which keeps secrets out of the check */
export const variableHint = '{{variables.NAME}}';

/** Main fields of a request */
export const requestFields: SettingFields<Step> = [
  { name: 'method', label: 'Method', kind: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] },
  { name: 'url', label: 'URL', kind: 'text', hint: `https://shop.example/; may contain ${variableHint}` },
];

/** Optional fields of a request */
export const requestOptionFields: SettingFields<Step> = [
  { name: 'name', label: 'Step name', kind: 'text' },
  { name: 'headers', label: 'Headers', kind: 'pairs' },
  { name: 'body', label: 'Body', kind: 'lines' },
  { name: 'redirects', label: 'Maximum redirects', kind: 'number' },
  verifyCertificateField,
];

export const authenticationTitles: Readonly<Record<Authentication['type'], string>> = {
  basic: 'Basic',
  bearer: 'Bearer token',
  oauth2: 'OAuth 2.0 client credentials',
};

/** New settings of each authentication */
export const emptyAuthentications: { readonly [Type in Authentication['type']]: Authentication & { type: Type } } = {
  basic: { type: 'basic', user: '', password: '' },
  bearer: { type: 'bearer', token: '' },
  oauth2: { type: 'oauth2', tokenUrl: 'https://', clientId: '', clientSecret: '' },
};

/** Fields of each authentication */
export const authenticationFields: Readonly<Record<Authentication['type'], readonly SettingField[]>> = {
  basic: [
    { name: 'user', label: 'User name', kind: 'text' },
    { name: 'password', label: 'Password', kind: 'text', hint: variableHint },
  ],
  bearer: [{ name: 'token', label: 'Token', kind: 'text', hint: variableHint }],
  oauth2: [
    { name: 'tokenUrl', label: 'Token URL', kind: 'text' },
    { name: 'clientId', label: 'Client ID', kind: 'text' },
    { name: 'clientSecret', label: 'Client secret', kind: 'text', hint: variableHint },
    { name: 'scope', label: 'Scope', kind: 'text' },
    { name: 'audience', label: 'Audience', kind: 'text' },
    { name: 'sentIn', label: 'Credentials in', kind: ['header', 'body'] },
  ],
};

export const certificateFields: SettingFields<ClientCertificate> = [
  { name: 'certificate', label: 'Certificate (PEM)', kind: 'lines' },
  { name: 'key', label: 'Private key', kind: 'text', hint: variableHint },
];

export const extractionSourceTitles: Readonly<Record<Extraction['source'], string>> = {
  json: 'JSON value',
  xml: 'XML value',
  header: 'Header',
  body: 'Body (regular expression)',
};

/** Form fields of types with one set of settings */
export const settingFieldsByType: {
  readonly [SelectedType in Exclude<CheckType, 'http' | 'browser'>]: SettingFields<SettingsByType<SelectedType>>;
} = {
  tcp: [hostField, portField, { name: 'send', label: 'Payload on connect', kind: 'lines' }],
  tls: [hostField, portField, serverNameField, verifyCertificateField],
  dns: [
    { name: 'name', label: 'Name to resolve', kind: 'text' },
    {
      name: 'record',
      label: 'Records',
      kind: ['A', 'AAAA', 'CAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT'],
    },
    { name: 'server', label: 'DNS server', kind: 'optional', hint: 'Default: name servers of the location' },
    portField,
  ],
  icmp: [hostField, { name: 'packets', label: 'Requests per run', kind: 'number' }],
  grpc: [
    ...[hostField, portField],
    { name: 'service', label: 'Service', kind: 'text', hint: 'Default: the entire server' },
    { name: 'tls', label: 'TLS', kind: 'flag' },
    ...[serverNameField, verifyCertificateField],
    { name: 'metadata', label: 'Metadata', kind: 'pairs' },
  ],
  websocket: [
    { name: 'url', label: 'URL', kind: 'text', hint: 'wss://shop.example/socket' },
    { name: 'headers', label: 'Headers', kind: 'pairs' },
    { name: 'protocols', label: 'Offered subprotocols', kind: 'list' },
    { name: 'send', label: 'Payload on open', kind: 'lines' },
    verifyCertificateField,
  ],
  heartbeat: [
    { name: 'every', label: 'Interval', kind: 'optional', hint: '15m; default: the interval of the check' },
    { name: 'cron', label: 'Cron schedule', kind: 'optional', hint: 'Cron expression: 0 3 * * 1-5' },
    { name: 'timeZone', label: 'Time zone', kind: 'text' },
    { name: 'grace', label: 'Grace period', kind: 'optional', hint: '5m; default: a tenth of the interval' },
    { name: 'maxRunDuration', label: 'Maximum run duration', kind: 'text', hint: '1h' },
  ],
};

export const emptyStep: Step = {
  name: '',
  method: 'GET',
  url: 'https://',
  headers: {},
  body: null,
  authentication: null,
  clientCertificate: null,
  redirects: 5,
  verifyCertificate: true,
  assertions: [],
  extract: [],
};

/** Settings of a new check by type */
export const defaultSettingsByType: { readonly [SelectedType in CheckType]: SettingsByType<SelectedType> } = {
  http: { steps: [emptyStep] },
  tcp: { host: '', port: 443, send: null, assertions: [] },
  tls: { host: '', port: 443, serverName: null, verifyCertificate: true, assertions: [] },
  dns: { name: '', record: 'A', server: null, port: 53, assertions: [] },
  icmp: { host: '', packets: 3, assertions: [] },
  grpc: {
    host: '',
    port: 443,
    service: '',
    tls: true,
    serverName: null,
    verifyCertificate: true,
    metadata: {},
    assertions: [],
  },
  websocket: { url: 'wss://', headers: {}, protocols: [], send: null, verifyCertificate: true, assertions: [] },
  browser: { steps: [{ action: 'goto', url: 'https://' }] },
  heartbeat: { every: null, cron: null, timeZone: 'UTC', grace: null, maxRunDuration: '1h' },
};

/** Assertion sources of each type */
export const assertionSourcesByType: Readonly<Partial<Record<CheckType, readonly Source[]>>> = {
  http: [
    ...(['status', 'header', 'body', 'json', 'xml', 'size', 'duration', 'phase', 'redirects', 'protocol'] as const),
    'certificate',
  ],
  tcp: ['body', 'size', 'duration', 'phase'],
  tls: ['protocol', 'certificate', 'duration', 'phase'],
  dns: ['record', 'code', 'duration', 'phase'],
  icmp: ['loss', 'duration', 'phase'],
  grpc: ['code', 'certificate', 'duration', 'phase'],
  websocket: ['body', 'json', 'xml', 'size', 'header', 'protocol', 'certificate', 'duration', 'phase'],
  browser: ['status', 'duration', 'vital'],
};

export const sourceTitles: Readonly<Record<Source, string>> = {
  status: 'Status code',
  header: 'Header',
  body: 'Body',
  json: 'JSON value',
  xml: 'XML value',
  size: 'Size (bytes)',
  duration: 'Duration (ms)',
  phase: 'Phase (ms)',
  redirects: 'Redirects',
  protocol: 'Protocol',
  certificate: 'Certificate',
  record: 'Record',
  code: 'Code',
  loss: 'Packet loss (%)',
  vital: 'Web vital',
};

/** Properties of a source: one of those listed, or free text if the list is empty. Other sources have no property */
export const sourceProperties: Readonly<Partial<Record<Source, readonly string[]>>> = {
  header: [],
  json: [],
  xml: [],
  phase: ['lookup', 'connect', 'tls', 'send', 'wait', 'receive'],
  certificate: ['daysLeft', 'issuer', 'name'],
  vital: ['lcp', 'fcp', 'ttfb', 'cls'],
};

/** Titles of properties that need one */
export const propertyTitles: Readonly<Record<string, string>> = {
  lookup: 'DNS lookup',
  connect: 'connect',
  tls: 'TLS handshake',
  send: 'send',
  wait: 'first byte',
  receive: 'download',
  daysLeft: 'days left',
  lcp: 'LCP (ms)',
  fcp: 'FCP (ms)',
  ttfb: 'TTFB (ms)',
  cls: 'CLS',
};

export const operatorTitles: Readonly<Record<AssertionFields['operator'], string>> = {
  is: 'is',
  isNot: 'is not',
  contains: 'contains',
  notContains: 'does not contain',
  matches: 'matches',
  notMatches: 'does not match',
  lt: 'is below',
  lte: 'is at most',
  gt: 'is above',
  gte: 'is at least',
  exists: 'exists',
  absent: 'does not exist',
};

const readTitle = (titles: Readonly<Record<string, string>>, name: string): string => titles[name] ?? name;

/** Formats an assertion of a run as `Header content-type contains json`. */
export const formatAssertion = ({
  source,
  name,
  operator,
  value,
}: {
  readonly source: string;
  readonly name?: string | undefined;
  readonly operator: string;
  readonly value?: string | undefined;
}): string =>
  [
    readTitle(sourceTitles, source),
    name === undefined ? undefined : readTitle(propertyTitles, name),
    readTitle(operatorTitles, operator),
    value,
  ]
    .filter((part) => part !== undefined && part !== '')
    .join(' ');
