/** Writes small databases in the MMDB format (MaxMind DB file format specification, version 2.0). */
import ipaddr from 'ipaddr.js';

type Value = string | number | readonly string[] | { readonly [key: string]: Value };

const encodeControl = (type: number, length: number): Buffer => {
  if (length >= 29) {
    const rest = Buffer.from([length - 29]);
    return type > 7 ? Buffer.from([29, type - 7, ...rest]) : Buffer.from([(type << 5) | 29, ...rest]);
  }
  return type > 7 ? Buffer.from([length, type - 7]) : Buffer.from([(type << 5) | length]);
};

const encodeValue = (value: Value): Buffer => {
  if (typeof value === 'string') return Buffer.concat([encodeControl(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([encodeControl(6, 4), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([encodeControl(11, value.length), ...value.map(encodeValue)]);
  const entries = Object.entries(value);
  return Buffer.concat([
    encodeControl(7, entries.length),
    ...entries.flatMap(([key, entry]) => [encodeValue(key), encodeValue(entry as Value)]),
  ]);
};

type Node = [Node | number | undefined, Node | number | undefined];

/** Returns the bits of a network, with those of IPv4 below `::/96`. */
const readBits = (network: string): number[] => {
  const [address, prefix] = ipaddr.parseCIDR(network);
  const isIpv4 = address.kind() === 'ipv4';
  const bytes = [...(isIpv4 ? Array.from({ length: 12 }, () => 0) : []), ...address.toByteArray()];
  const bits = bytes.flatMap((byte) => Array.from({ length: 8 }, (_, bit) => (byte >> (7 - bit)) & 1));
  return bits.slice(0, isIpv4 ? prefix + 96 : prefix);
};

const addNetwork = (root: Node, network: string, dataOffset: number): void => {
  const bits = readBits(network);
  const last = bits.pop() as 0 | 1;
  let node = root;
  for (const bit of bits as (0 | 1)[]) {
    const child = node[bit] ?? [undefined, undefined];
    node[bit] = child;
    node = child as Node;
  }
  node[last] = dataOffset;
};

const encodeTree = (root: Node): { readonly tree: Buffer; readonly count: number } => {
  const nodes: Node[] = [root];
  for (const node of nodes) nodes.push(...node.filter((child) => Array.isArray(child)));
  const count = nodes.length;
  const toRecord = (child: Node[number]): number => {
    if (child === undefined) return count;
    return typeof child === 'number' ? count + 16 + child : nodes.indexOf(child);
  };
  const tree = Buffer.alloc(count * 8);
  for (const [index, [left, right]] of nodes.entries()) {
    tree.writeUInt32BE(toRecord(left), index * 8);
    tree.writeUInt32BE(toRecord(right), index * 8 + 4);
  }
  return { tree, count };
};

/** Returns a database of countries. */
export const createCountryDatabase = (entries: readonly (readonly [network: string, record: Value])[]): Buffer => {
  const root: Node = [undefined, undefined];
  const data: Buffer[] = [];
  let dataLength = 0;
  for (const [network, record] of entries) {
    addNetwork(root, network, dataLength);
    const encoded = encodeValue(record);
    data.push(encoded);
    dataLength += encoded.length;
  }
  const { tree, count } = encodeTree(root);
  const metadata = {
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1,
    database_type: 'Country',
    description: { en: 'Test' },
    ip_version: 6,
    languages: ['en'],
    node_count: count,
    record_size: 32,
  };
  const marker = Buffer.concat([Buffer.from([0xab, 0xcd, 0xef]), Buffer.from('MaxMind.com')]);
  return Buffer.concat([tree, Buffer.alloc(16), ...data, marker, encodeValue(metadata)]);
};
