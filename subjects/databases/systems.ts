/** Names of database products: those of OpenTelemetry's semantic conventions, and those of former versions. */
import { quoteString } from '../../schemas/tables/literal.ts';

/** Former name → current name (`db.system` → `db.system.name`). Other names did not change. */
const formerNames: ReadonlyMap<string, string> = new Map(
  Object.entries({
    mssql: 'microsoft.sql_server',
    mssqlcompact: 'microsoft.sql_server',
    oracle: 'oracle.db',
    db2: 'ibm.db2',
    informix: 'ibm.informix',
    netezza: 'ibm.netezza',
    adabas: 'softwareag.adabas',
    ingres: 'actian.ingres',
    dynamodb: 'aws.dynamodb',
    redshift: 'aws.redshift',
    cosmosdb: 'azure.cosmosdb',
    cache: 'intersystems.cache',
    intersystems_cache: 'intersystems.cache',
    firebird: 'firebirdsql',
    spanner: 'gcp.spanner',
    h2: 'h2database',
    hanadb: 'sap.hana',
    maxdb: 'sap.maxdb',
    postgres: 'postgresql',
  }),
);

/** Returns the current name of a product. */
export const getCurrentSystemName = (name: string): string => formerNames.get(name.toLowerCase()) ?? name.toLowerCase();

/** Returns the SQL expression of the current name. */
export const buildSystemExpression = (name: string): string =>
  `transform(lower(${name}), [${[...formerNames.keys()].map(quoteString).join(', ')}], [${[...formerNames.values()].map(quoteString).join(', ')}], lower(${name}))`;

/** Attributes by meaning, current names first. */
export const attributeKeys = {
  system: ['db.system.name', 'db.system'],
  namespace: ['db.namespace', 'db.name', 'db.instance'],
  statement: ['db.query.text', 'db.statement'],
  summary: ['db.query.summary'],
  operation: ['db.operation.name', 'db.operation'],
  collection: ['db.collection.name', 'db.sql.table', 'db.mongodb.collection', 'db.cassandra.table'],
  host: ['server.address', 'net.peer.name', 'network.peer.address', 'net.sock.peer.addr', 'net.peer.ip'],
  port: ['server.port', 'net.peer.port', 'network.peer.port', 'net.sock.peer.port'],
} as const;
