/**
 * Fields that contain observables. The list contains field names of OpenTelemetry, ECS, Sysmon and Windows, OCSF,
 * Zeek, cloud audit logs and web logs
 */
import { addToList } from '../../schemas/add-to-list.ts';
import { foldName } from '../detections/fields/table.ts';

/**
 * Kind of a field's content: hosts, URLs, email addresses, file hashes, file paths, or text that may contain any of
 * them
 */
export type ObservableKind = 'host' | 'url' | 'email' | 'hash' | 'file' | 'text';

const observableFields: Readonly<Record<ObservableKind, readonly string[]>> = {
  host: [
    ...['source', 'destination', 'client', 'server'].flatMap((end) => [
      ...[`${end}.address`, `${end}.ip`, `${end}.domain`, `${end}.nat.ip`],
    ]),
    ...['network.peer.address', 'net.peer.ip', 'net.peer.name', 'net.sock.peer.addr', 'http.client_ip', 'related.ip'],
    ...['related.hosts', 'SourceIp', 'SourceHostname', 'DestinationIp', 'DestinationHostname', 'IpAddress'],
    ...['ClientAddress', 'ClientIP', 'RemoteIP', 'RemoteUrl', 'DestAddress', 'SourceAddress', 'QueryName'],
    ...['src_endpoint', 'dst_endpoint'].flatMap((end) => [`${end}.ip`, `${end}.domain`, `${end}.hostname`]),
    ...[
      'query.hostname',
      'id.orig_h',
      'id.resp_h',
      'tx_hosts',
      'rx_hosts',
      'query',
      'answers',
      'server_name',
      'host_header',
    ],
    ...['dns.question.name', 'dns.answers.data', 'dns.answers.name', 'dns.resolved_ip', 'tls.client.server_name'],
    ...['url.domain', 'url.host', 'http.host', 'http.request.header.host', 'cs-host', 'c-ip', 's-ip', 'r-dns', 'r-ip'],
    ...['http.request.header.x-forwarded-for', 'x_forwarded_for', 'x-forwarded-for', 'forwarded_for', 'remote_addr'],
    ...['remote_ip', 'client_ip', 'clientip', 'src_ip', 'dst_ip', 'dest_ip', 'srcip', 'dstip', 'src_host', 'dst_host'],
    ...['sourceIPAddress', 'callerIpAddress', 'ipAddress', 'client.ipAddress', 'sourceIPs', 'clientIP', 'callerIp'],
    ...['requestMetadata.callerIp', 'protoPayload.requestMetadata.callerIp', 'addr', 'laddr', 'raddr', 'rhost'],
  ],
  url: [
    ...['url.full', 'url.original', 'http.url', 'http.request.referrer', 'http.request.header.referer', 'url', 'uri'],
    ...[
      'c-uri',
      'cs-uri',
      'cs-referer',
      'cs-referrer',
      'request_url',
      'requestUrl',
      'httpRequest.requestUrl',
      'referer',
    ],
    ...[
      'referrer',
      'http_referer',
      'http_referrer',
      'http_url',
      'url_string',
      'FileOriginUrl',
      'FileOriginReferrerUrl',
    ],
  ],
  email: [
    ...['email.from.address', 'email.to.address', 'email.cc.address', 'email.sender.address', 'email.reply_to.address'],
    ...[
      'user.email',
      'enduser.id',
      'mailfrom',
      'rcptto',
      'sender',
      'recipient',
      'SenderFromAddress',
      'SenderMailFromAddress',
    ],
    ...['RecipientEmailAddress', 'from_address', 'to_address', 'email'],
  ],
  hash: [
    ...['Hashes', 'Hash', 'MD5', 'SHA1', 'SHA256', 'SHA512', 'FileHash', 'file_hash', 'sha256_hash', 'md5_hash'],
    ...['file', 'process', 'process.parent', 'dll', 'process.executable', 'email.attachments.file'].flatMap((owner) =>
      ['md5', 'sha1', 'sha256', 'sha512'].flatMap((kind) => [`${owner}.hash.${kind}`, `${owner}.${kind}`]),
    ),
    ...['related.hash', 'file.hashes.value', 'process.file.hashes.value', 'actor.process.file.hashes.value'],
    ...['tls.server.hash.sha256', 'tls.client.hash.sha256'],
  ],
  file: [
    ...['Image', 'OriginalFileName', 'ImageLoaded', 'TargetFilename', 'FileName', 'file.name', 'file.path'],
    ...[
      'process.executable',
      'process.executable.path',
      'process.executable.name',
      'email.attachments.file.name',
      'filename',
    ],
  ],
  text: [
    ...[
      'body',
      'message',
      'msg',
      'event.original',
      'log.original',
      'CommandLine',
      'process.command_line',
      'QueryResults',
    ],
    ...[
      'ParentCommandLine',
      'ScriptBlockText',
      'process.command_args',
      'process.args',
      'proctitle',
      'a0',
      'a1',
      'a2',
      'a3',
    ],
  ],
};

const kindsByField = new Map<string, ObservableKind[]>();
for (const [kind, names] of Object.entries(observableFields) as [ObservableKind, readonly string[]][])
  for (const name of new Set(names.map(foldName))) addToList(kindsByField, name, kind);

const cachedKinds = new WeakMap<readonly string[], readonly ObservableKind[]>();

/** Returns the kinds of observables at a position of an event, by its folded names. */
export const getObservableKinds = (names: readonly string[]): readonly ObservableKind[] => {
  const cached = cachedKinds.get(names);
  if (cached !== undefined) return cached;
  const kinds = [...new Set(names.flatMap((name) => kindsByField.get(name) ?? []))];
  cachedKinds.set(names, kinds);
  return kinds;
};
