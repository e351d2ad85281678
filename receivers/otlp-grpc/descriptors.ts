/** File descriptors of the served protocols, built from the `.proto` files in this folder on first request. */
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor.js';

/** Dependencies precede the files that import them. */
const files = [
  'opentelemetry/proto/common/v1/common.proto',
  'opentelemetry/proto/resource/v1/resource.proto',
  'opentelemetry/proto/logs/v1/logs.proto',
  'opentelemetry/proto/metrics/v1/metrics.proto',
  'opentelemetry/proto/trace/v1/trace.proto',
  'opentelemetry/proto/collector/logs/v1/logs_service.proto',
  'opentelemetry/proto/collector/metrics/v1/metrics_service.proto',
  'opentelemetry/proto/collector/trace/v1/trace_service.proto',
  'grpc/health/v1/health.proto',
  'grpc/reflection/v1/reflection.proto',
  'grpc/reflection/v1alpha/reflection.proto',
];

/** Reflection v1 is v1alpha under another name, so both are generated from one file. */
const readProto = (name: string): string => {
  const isAlpha = name.startsWith('grpc/reflection/v1alpha/');
  const path = isAlpha ? name.replace('v1alpha', 'v1') : name;
  const text = readFileSync(new URL(`./protos/${path}`, import.meta.url), 'utf8');
  return isAlpha ? text.replace('package grpc.reflection.v1;', 'package grpc.reflection.v1alpha;') : text;
};

type TypeDescriptor = ReturnType<protobuf.Type['toDescriptor']>;

/** Completes relative names of protobufjs and implied proto3 options, as other implementations require. */
const completeDescriptor = (type: protobuf.Type, typeDescriptor: TypeDescriptor): TypeDescriptor => {
  for (const [index, field] of type.fieldsArray.entries()) {
    const target = typeDescriptor.field?.[index];
    if (target === undefined) continue;
    if (field.resolvedType !== null) target.typeName = field.resolvedType.fullName;
    delete target.options;
  }
  const nestedTypes = type.nestedArray.filter((reflectionObject) => reflectionObject instanceof protobuf.Type);
  for (const [index, type] of nestedTypes.entries()) {
    const target = typeDescriptor.nestedType?.[index];
    if (target !== undefined && target !== null) completeDescriptor(type, target as TypeDescriptor);
  }
  return typeDescriptor;
};

interface ParsedFile {
  readonly name: string;
  readonly namespace: protobuf.Namespace;
  readonly imports: readonly string[];
}

const encodeFile = ({ name, namespace, imports }: ParsedFile): Uint8Array => {
  const file = {
    name,
    package: namespace.fullName.slice(1),
    dependency: imports,
    syntax: 'proto3',
    messageType: [] as object[],
    enumType: [] as object[],
    service: [] as object[],
  };
  for (const reflectionObject of namespace.nestedArray) {
    if (reflectionObject instanceof protobuf.Type)
      file.messageType.push(completeDescriptor(reflectionObject, reflectionObject.toDescriptor('proto3')));
    else if (reflectionObject instanceof protobuf.Enum) file.enumType.push(reflectionObject.toDescriptor());
    else if (reflectionObject instanceof protobuf.Service) file.service.push(reflectionObject.toDescriptor());
  }
  return descriptor.FileDescriptorProto.encode(descriptor.FileDescriptorProto.fromObject(file)).finish();
};

export interface Descriptors {
  /** Full names of all services. */
  readonly services: readonly string[];
  /** Returns a file and its imports, itself first; undefined if there is no file with that name. */
  byFile(name: string): Uint8Array[] | undefined;
  /**
   * Returns the file that declares the symbol (a message, enum, service or method) and its imports; undefined if there
   * is none.
   */
  findBySymbol(symbol: string): Uint8Array[] | undefined;
  /** Returns a message type of the reflection protocol itself. */
  lookupType(name: string): protobuf.Type;
}

const loadDescriptors = (): Descriptors => {
  const root = new protobuf.Root();
  const parsedFiles: ParsedFile[] = files.map((name) => {
    const { package: packageName = '', imports = [] } = protobuf.parse(readProto(name), root, { keepCase: true });
    return { name, namespace: root.lookup(packageName) as protobuf.Namespace, imports };
  });
  root.resolveAll();
  const encodedFiles = new Map(parsedFiles.map((file) => [file.name, encodeFile(file)]));
  const byName = new Map(parsedFiles.map((file) => [file.name, file]));

  const collectImports = (name: string, names: Set<string>): Set<string> => {
    if (names.has(name)) return names;
    names.add(name);
    for (const imported of byName.get(name)?.imports ?? []) collectImports(imported, names);
    return names;
  };
  const findByFile = (name: string): Uint8Array[] | undefined => {
    if (!byName.has(name)) return undefined;
    return [...collectImports(name, new Set())].flatMap((value) => encodedFiles.get(value) ?? []);
  };
  return {
    services: parsedFiles.flatMap(({ namespace }) =>
      namespace.nestedArray
        .filter((reflectionObject) => reflectionObject instanceof protobuf.Service)
        .map((service) => service.fullName.slice(1)),
    ),
    byFile: findByFile,
    findBySymbol(symbol) {
      let symbolObject = root.lookup(symbol.split('.'), undefined, true);
      while (
        symbolObject !== null &&
        !(symbolObject.parent !== null && parsedFiles.some(({ namespace }) => namespace === symbolObject?.parent))
      )
        symbolObject = symbolObject.parent;
      const file = parsedFiles.find(({ namespace }) => namespace === symbolObject?.parent);
      return file && findByFile(file.name);
    },
    lookupType: (name) => root.lookupType(name),
  };
};

let cachedDescriptors: Descriptors | undefined;

/** Returns the descriptors, parsed once. */
export const getDescriptors = (): Descriptors => {
  cachedDescriptors ??= loadDescriptors();
  return cachedDescriptors;
};
