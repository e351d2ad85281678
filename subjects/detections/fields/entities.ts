/** Kinds of fields that identify the entity of an event */
export const entityTypes = ['user', 'host', 'process', 'address'] as const;
export type EntityType = (typeof entityTypes)[number];

/** Field names of events by entity type, in lookup order */
export const entityFields: Readonly<Record<EntityType, readonly (readonly string[])[]>> = {
  user: [
    [
      'User',
      'TargetUserName',
      'user.name',
      'userIdentity.userName',
      'userIdentity.arn',
      'user.username',
      'actor.alternateId',
      'userPrincipalName',
      'protoPayload.authenticationInfo.principalEmail',
      'UserId',
      'enduser.id',
      'acct',
      'actor',
    ],
    ['SubjectUserName'],
  ],
  host: [
    [
      'Computer',
      'winlog.computer_name',
      'ComputerName',
      'Hostname',
      'host.name',
      'hostname',
      'device.hostname',
      'k8s.node.name',
    ],
  ],
  process: [
    [
      'Image',
      'NewProcessName',
      'process.executable',
      'process.executable.path',
      'ProcessName',
      'exe',
      'process.file.path',
    ],
  ],
  address: [
    [
      'SourceIp',
      'IpAddress',
      'source.ip',
      'sourceIPAddress',
      'client.address',
      'source.address',
      'src_ip',
      'c-ip',
      'remote_addr',
      'id.orig_h',
      'callerIpAddress',
      'ipAddress',
      'client.ipAddress',
      'sourceIPs',
      'src_endpoint.ip',
    ],
    ['DestinationIp', 'destination.ip', 'destination.address', 'dst_ip', 'id.resp_h', 'dst_endpoint.ip'],
  ],
};
