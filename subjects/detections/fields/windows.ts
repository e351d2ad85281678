/**
 * Windows field tables: event logs as written by XML writers, Winlogbeat, NXLog and the OpenTelemetry receiver; Sysmon,
 * Security, Defender, PowerShell
 */
import type { EventSource, FieldTable } from './table.ts';

const channelFields = ['Channel', 'winlog.channel', 'event.channel', 'log_name'];
const eventIdFields = ['EventID', 'winlog.event_id', 'event_id', 'event_id.id', 'event.code', 'EventCode'];

/** Channels by service, as the SigmaHQ rules name them */
const channels: Readonly<Record<string, readonly string[]>> = {
  application: ['application'],
  system: ['system'],
  ntlm: ['microsoft-windows-ntlm/operational'],
  'dns-server': ['dns server', 'microsoft-windows-dns-server/audit'],
  'dns-server-analytic': ['microsoft-windows-dns-server/analytical'],
  'dns-client': ['microsoft-windows-dns client events/operational'],
  'driver-framework': ['microsoft-windows-driverframeworks-usermode/operational'],
  'msexchange-management': ['msexchange management'],
  'printservice-admin': ['microsoft-windows-printservice/admin'],
  'printservice-operational': ['microsoft-windows-printservice/operational'],
  'smbclient-security': ['microsoft-windows-smbclient/security'],
  'smbclient-connectivity': ['microsoft-windows-smbclient/connectivity'],
  'smbserver-connectivity': ['microsoft-windows-smbserver/connectivity'],
  applocker: [
    'microsoft-windows-applocker/msi and script',
    'microsoft-windows-applocker/exe and dll',
    'microsoft-windows-applocker/packaged app-deployment',
    'microsoft-windows-applocker/packaged app-execution',
  ],
  'microsoft-servicebus-client': ['microsoft-servicebus-client'],
  ldap: ['microsoft-windows-ldap-client/debug'],
  ldap_debug: ['microsoft-windows-ldap-client/debug'],
  taskscheduler: ['microsoft-windows-taskscheduler/operational'],
  wmi: ['microsoft-windows-wmi-activity/operational'],
  'codeintegrity-operational': ['microsoft-windows-codeintegrity/operational'],
  'firewall-as': ['microsoft-windows-windows firewall with advanced security/firewall'],
  'bits-client': ['microsoft-windows-bits-client/operational'],
  'security-mitigations': [
    'microsoft-windows-security-mitigations/kernel mode',
    'microsoft-windows-security-mitigations/user mode',
  ],
  diagnosis: ['microsoft-windows-diagnosis-scripted/operational'],
  'diagnosis-scripted': ['microsoft-windows-diagnosis-scripted/operational'],
  'shell-core': ['microsoft-windows-shell-core/operational'],
  openssh: ['openssh/operational'],
  'terminalservices-localsessionmanager': ['microsoft-windows-terminalservices-localsessionmanager/operational'],
  appxdeployment: ['microsoft-windows-appxdeploymentserver/operational'],
  'appxdeployment-server': ['microsoft-windows-appxdeploymentserver/operational'],
  'appxpackaging-om': ['microsoft-windows-appxpackaging/operational'],
  'appmodel-runtime': ['microsoft-windows-appmodel-runtime/admin'],
  'lsa-server': ['microsoft-windows-lsa/operational'],
  vhdmp: ['microsoft-windows-vhdmp/operational', 'microsoft-windows-vhdmp-operational'],
  capi2: ['microsoft-windows-capi2/operational'],
  'certificateservicesclient-lifecycle-system': [
    'microsoft-windows-certificateservicesclient-lifecycle-system/operational',
  ],
  'kernel-shimengine': [
    'microsoft-windows-kernel-shimengine/operational',
    'microsoft-windows-kernel-shimengine/diagnostic',
  ],
  'kernel-event-tracing': ['microsoft-windows-kernel-eventtracing'],
  sense: ['microsoft-windows-sense/operational'],
  'hyper-v-worker': ['microsoft-windows-hyper-v-worker'],
  'iis-configuration': ['microsoft-iis-configuration/operational'],
};

const sysmonCategories: Readonly<Record<string, readonly string[]>> = {
  1: ['process_creation'],
  2: ['file_change'],
  3: ['network_connection'],
  4: ['sysmon_status'],
  5: ['process_termination'],
  6: ['driver_load'],
  7: ['image_load'],
  8: ['create_remote_thread'],
  9: ['raw_access_thread'],
  10: ['process_access'],
  11: ['file_event'],
  12: ['registry_event', 'registry_add', 'registry_delete'],
  13: ['registry_event', 'registry_set'],
  14: ['registry_event', 'registry_rename'],
  15: ['create_stream_hash'],
  16: ['sysmon_status'],
  17: ['pipe_created'],
  18: ['pipe_created'],
  19: ['wmi_event'],
  20: ['wmi_event'],
  21: ['wmi_event'],
  22: ['dns_query'],
  23: ['file_delete'],
  24: ['clipboard_capture'],
  25: ['process_tampering'],
  26: ['file_delete', 'file_delete_detected'],
  27: ['file_block_executable', 'file_block'],
  28: ['file_block_shredding', 'file_block'],
  29: ['file_executable_detected'],
  255: ['sysmon_error'],
};

const createChannelCondition = (values: readonly string[]): EventSource['when'] => [{ names: channelFields, values }];

const eventSources: readonly EventSource[] = [
  {
    when: createChannelCondition(['microsoft-windows-sysmon/operational']),
    is: { product: 'windows', service: 'sysmon' },
    categories: { names: eventIdFields, by: sysmonCategories },
  },
  {
    when: [
      { names: ['Provider_Name', 'SourceName', 'winlog.provider_name', 'provider.name'], values: ['linux-sysmon'] },
    ],
    is: { product: 'linux', service: 'sysmon' },
    categories: { names: eventIdFields, by: sysmonCategories },
  },
  {
    when: createChannelCondition(['security']),
    is: { product: 'windows', service: 'security' },
    categories: {
      names: eventIdFields,
      by: {
        4688: ['process_creation'],
        4657: ['registry_event', 'registry_set'],
        5156: ['network_connection'],
        4689: ['process_termination'],
      },
    },
  },
  {
    when: createChannelCondition(['microsoft-windows-windows defender/operational']),
    is: { product: 'windows', service: 'windefend' },
    categories: {
      names: eventIdFields,
      by: { 1006: ['antivirus'], 1015: ['antivirus'], 1116: ['antivirus'], 1117: ['antivirus'] },
    },
  },
  {
    when: createChannelCondition(['microsoft-windows-powershell/operational', 'powershellcore/operational']),
    is: { product: 'windows', service: 'powershell' },
    categories: { names: eventIdFields, by: { 4103: ['ps_module'], 4104: ['ps_script'] } },
  },
  {
    when: createChannelCondition(['windows powershell']),
    is: { product: 'windows', service: 'powershell-classic' },
    categories: {
      names: eventIdFields,
      by: { 400: ['ps_classic_start'], 600: ['ps_classic_provider_start'], 800: ['ps_classic_script'] },
    },
  },
  ...Object.entries(channels).map(
    ([service, values]): EventSource => ({
      when: createChannelCondition(values),
      is: { product: 'windows', service },
      categories: { names: [], by: {} },
    }),
  ),
];

const pathRoots = [
  'Event.EventData',
  'Event.EventData.Data',
  'Event.System',
  'Event.UserData.*',
  'Event',
  'EventData',
  'EventData.Data',
  'System',
  'UserData.*',
  'winlog.event_data',
  'winlog.user_data',
  'winlog',
  'event_data',
  'event_data.data',
  'body',
  'body.event_data',
  'body.event_data.data',
];

export const windowsTables: readonly FieldTable[] = [
  {
    name: 'windows',
    summary: 'Windows event logs, from any shipper',
    rules: [{ product: 'windows' }],
    roots: pathRoots,
    sources: eventSources,
    fields: {
      EventID: eventIdFields,
      Channel: channelFields,
      Provider_Name: [
        'Provider_Name',
        'Provider.Name',
        'winlog.provider_name',
        'provider.name',
        'SourceName',
        'ProviderName',
        'Source',
      ],
      Computer: ['Computer', 'winlog.computer_name', 'ComputerName', 'Hostname', 'host.name'],
      ComputerName: ['ComputerName', 'Computer', 'winlog.computer_name', 'Hostname', 'host.name'],
      Level: ['Level', 'winlog.level', 'log.level'],
      Keywords: ['Keywords', 'winlog.keywords'],
      EventRecordID: ['EventRecordID', 'winlog.record_id', 'record_id', 'RecordNumber'],
      Hashes: ['Hashes', 'Hash'],
      // Sysmon's own spellings in addition to those of rules.
      Contents: ['Contents', 'Content'],
    },
  },
  {
    name: 'windows-security-process-creation',
    summary: 'Security event 4688 as process creation',
    rules: [{ product: 'windows', category: 'process_creation' }],
    fields: {
      Image: ['Image', 'NewProcessName'],
      ParentImage: ['ParentImage', 'ParentProcessName'],
      CommandLine: ['CommandLine', 'ProcessCommandLine'],
      User: ['User', 'TargetUserName', 'SubjectUserName'],
      // In event 4688, ProcessId is the ID of the parent process.
      ProcessId: ['NewProcessId', 'ProcessId'],
      LogonId: ['LogonId', 'SubjectLogonId'],
      IntegrityLevel: ['IntegrityLevel', 'MandatoryLabel'],
    },
  },
  {
    name: 'windows-security-registry',
    summary: 'Security event 4657 as a registry change',
    rules: [
      { product: 'windows', category: 'registry_set' },
      { product: 'windows', category: 'registry_event' },
    ],
    fields: {
      TargetObject: ['TargetObject', 'ObjectName'],
      Details: ['Details', 'NewValue'],
      Image: ['Image', 'ProcessName'],
      EventType: ['EventType', 'OperationType'],
    },
  },
  {
    name: 'windows-security-network',
    summary: 'Security event 5156 as a network connection',
    rules: [{ product: 'windows', category: 'network_connection' }],
    fields: {
      Image: ['Image', 'Application'],
      SourceIp: ['SourceIp', 'SourceAddress'],
      DestinationIp: ['DestinationIp', 'DestAddress'],
      DestinationPort: ['DestinationPort', 'DestPort'],
    },
  },
  {
    name: 'windows-defender',
    summary: 'Microsoft Defender events, whose names have spaces in some forms, and events of other scanners',
    rules: [{ product: 'windows', service: 'windefend' }, { category: 'antivirus' }],
    fields: {
      ThreatName: ['ThreatName', 'Threat Name'],
      Signature: ['Signature', 'ThreatName', 'Threat Name'],
      Filename: ['Filename', 'Path', 'FileName', 'Target Filename'],
      ProcessName: ['ProcessName', 'Process Name'],
      SourceName: ['SourceName', 'Source Name'],
      DetectionUser: ['Detection User', 'User'],
    },
  },
  {
    name: 'windows-powershell',
    summary: 'PowerShell events',
    rules: [
      { product: 'windows', category: 'ps_script' },
      { product: 'windows', category: 'ps_module' },
      { product: 'windows', category: 'ps_classic_start' },
      { product: 'windows', category: 'ps_classic_provider_start' },
      { product: 'windows', category: 'ps_classic_script' },
      { product: 'windows', service: 'powershell' },
      { product: 'windows', service: 'powershell-classic' },
    ],
    fields: {
      ScriptBlockText: ['ScriptBlockText', 'powershell.file.script_block_text'],
      Payload: ['Payload', 'winlog.event_data.Payload'],
      ContextInfo: ['ContextInfo', 'Context Info'],
      Data: ['Data', 'EventData.Data', 'Event.EventData.Data', 'param1', 'event_data.data', 'Message'],
    },
  },
];
