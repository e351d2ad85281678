/**
 * The messages of OpAMP that agents send: opamp.proto of open-telemetry/opamp-spec, commit 086cc68b. The scanner checks
 * them as it checks OTLP; unknown fields are skipped.
 */
import { otlpMessages } from '../../schemas/otlp/messages.ts';
import { compileSchema, getMessageNumber, type MessageDeclarations } from '../../schemas/protobuf/messages.ts';
import { WireScanner } from '../../schemas/protobuf/scan.ts';

const { ArrayValue, KeyValueList } = otlpMessages;

/** Message name → field name → number and type. Entries of maps are messages of their own. */
export const opampMessages = {
  AgentToServer: {
    instanceUid: [1, 'bytes'],
    sequenceNum: [2, 'uint64'],
    agentDescription: [3, 'AgentDescription'],
    capabilities: [4, 'uint64'],
    health: [5, 'ComponentHealth'],
    effectiveConfig: [6, 'EffectiveConfig'],
    remoteConfigStatus: [7, 'RemoteConfigStatus'],
    packageStatuses: [8, 'PackageStatuses'],
    agentDisconnect: [9, 'AgentDisconnect'],
    flags: [10, 'uint64'],
    connectionSettingsRequest: [11, 'ConnectionSettingsRequest'],
    customCapabilities: [12, 'CustomCapabilities'],
    customMessage: [13, 'CustomMessage'],
    availableComponents: [14, 'AvailableComponents'],
    connectionSettingsStatus: [15, 'ConnectionSettingsStatus'],
  },
  AgentDescription: {
    identifyingAttributes: [1, 'KeyValue', 'repeated'],
    nonIdentifyingAttributes: [2, 'KeyValue', 'repeated'],
  },
  ComponentHealth: {
    healthy: [1, 'bool'],
    startTimeUnixNano: [2, 'fixed64'],
    lastError: [3, 'string'],
    status: [4, 'string'],
    statusTimeUnixNano: [5, 'fixed64'],
    componentHealthMap: [6, 'ComponentHealthEntry', 'repeated'],
    attributes: [7, 'KeyValue', 'repeated'],
  },
  ComponentHealthEntry: { key: [1, 'string'], value: [2, 'ComponentHealth'] },
  EffectiveConfig: { configMap: [1, 'AgentConfigMap'] },
  AgentConfigMap: { configMap: [1, 'AgentConfigFileEntry', 'repeated'] },
  AgentConfigFileEntry: { key: [1, 'string'], value: [2, 'AgentConfigFile'] },
  AgentConfigFile: { body: [1, 'bytes'], contentType: [2, 'string'] },
  RemoteConfigStatus: { lastRemoteConfigHash: [1, 'bytes'], status: [2, 'enum'], errorMessage: [3, 'string'] },
  PackageStatuses: {
    packages: [1, 'PackageStatusEntry', 'repeated'],
    serverProvidedAllPackagesHash: [2, 'bytes'],
    errorMessage: [3, 'string'],
  },
  PackageStatusEntry: { key: [1, 'string'], value: [2, 'PackageStatus'] },
  PackageStatus: {
    name: [1, 'string'],
    agentHasVersion: [2, 'string'],
    agentHasHash: [3, 'bytes'],
    serverOfferedVersion: [4, 'string'],
    serverOfferedHash: [5, 'bytes'],
    status: [6, 'enum'],
    errorMessage: [7, 'string'],
    downloadDetails: [8, 'PackageDownloadDetails'],
  },
  PackageDownloadDetails: { downloadPercent: [1, 'double'], downloadBytesPerSecond: [2, 'double'] },
  AgentDisconnect: {},
  ConnectionSettingsRequest: { opamp: [1, 'OpAMPConnectionSettingsRequest'] },
  OpAMPConnectionSettingsRequest: { certificateRequest: [1, 'CertificateRequest'] },
  CertificateRequest: { csr: [1, 'bytes'] },
  CustomCapabilities: { capabilities: [1, 'string', 'repeated'] },
  CustomMessage: { capability: [1, 'string'], type: [2, 'string'], data: [3, 'bytes'] },
  AvailableComponents: { components: [1, 'ComponentDetailsEntry', 'repeated'], hash: [2, 'bytes'] },
  ComponentDetailsEntry: { key: [1, 'string'], value: [2, 'ComponentDetails'] },
  ComponentDetails: {
    metadata: [1, 'KeyValue', 'repeated'],
    subComponentMap: [2, 'ComponentDetailsEntry', 'repeated'],
  },
  ConnectionSettingsStatus: {
    lastConnectionSettingsHash: [1, 'bytes'],
    status: [2, 'enum'],
    errorMessage: [3, 'string'],
  },
  KeyValue: { key: [1, 'string'], value: [2, 'AnyValue'] },
  AnyValue: {
    stringValue: [1, 'string'],
    boolValue: [2, 'bool'],
    intValue: [3, 'int64'],
    doubleValue: [4, 'double'],
    arrayValue: [5, 'ArrayValue'],
    kvlistValue: [6, 'KeyValueList'],
    bytesValue: [7, 'bytes'],
  },
  ArrayValue,
  KeyValueList,
} as const satisfies MessageDeclarations;

const opampSchema = compileSchema(opampMessages, {
  records: [],
  nesting: ['ArrayValue', 'KeyValueList', 'ComponentHealthEntry', 'ComponentDetailsEntry'],
});
const agentToServer = getMessageNumber(opampSchema, 'AgentToServer');

/**
 * Checks the bytes from `start` as an AgentToServer message. Throws `PermanentError` with the reason (`malformed`,
 * `bad-utf8`, `too-deep`) and the byte position.
 */
export const checkAgentMessage = (bytes: Uint8Array, start: number): void =>
  new WireScanner(opampSchema, bytes).scan(agentToServer, start, bytes.length);
