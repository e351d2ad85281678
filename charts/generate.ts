/**
 * Generates the parts of the chart that depend on the code: the list of processors and sinks, and the schema of the
 * values. `node bin/node.mjs charts/generate.ts` writes them; if they are outdated, a test fails with their names.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { processorGroups, scheduleTopics } from '../processors/index.ts';
import { isSecretSetting, settingDefinitions } from '../schemas/settings.ts';
import { allTopics } from '../schemas/topics.ts';
import { sinkGroups } from '../sinks/index.ts';
import { buildSettingSchema, buildValuesSchema } from './values-schema.ts';

const chartDirectory = fileURLToPath(new URL('oiq', import.meta.url));

/** Settings that the chart sets itself, with the chart value that determines each. */
export const managedSettings: Readonly<Record<string, string>> = {
  CLUSTER: 'mode',
  DATA_DIR: 'dataDirectory',
  HTTP_ADDRESS: 'ports.http',
  OTLP_GRPC_ADDRESS: 'ports.otlpGrpc',
  OTLP_HTTP_ADDRESS: 'ports.otlpHttp',
};

interface Component {
  readonly group: string;
  /** Topic → partitions */
  readonly topics: Readonly<Record<string, number>>;
}

const buildComponents = (
  role: string,
  groups: readonly { readonly group: string; readonly topics: readonly string[] }[],
): Record<string, Component> => {
  const partitions = new Map([...allTopics, ...scheduleTopics].map((topic) => [topic.name, topic.partitions]));
  return Object.fromEntries(
    groups.map(({ group, topics }) => [
      group.slice(role.length + 1),
      { group, topics: Object.fromEntries(topics.map((topic) => [topic, partitions.get(topic) ?? 1])) },
    ]),
  );
};

/** Minimum lengths of secrets, by name. */
const getMinCharacters = (): Record<string, number> =>
  Object.fromEntries(
    Object.entries(settingDefinitions).flatMap(([name, schema]) => {
      const { minLength } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
      return minLength === undefined || !isSecretSetting(name) ? [] : [[name, minLength]];
    }),
  );

/** Every consumer, with its consumer group and the partitions of its topics. */
export const buildChartData = () => ({
  minCharacters: getMinCharacters(),
  shutdownSeconds: settingDefinitions.SHUTDOWN_SECONDS.parse(undefined),
  processors: buildComponents('processors', processorGroups),
  sinks: buildComponents('sinks', sinkGroups),
});

/** Generated files of the chart, by path. */
export const generateFiles = (): Readonly<Record<string, string>> => {
  const { processors, sinks } = buildChartData();
  const names = Object.keys(settingDefinitions).filter((name) => !(name in managedSettings));
  const settingSchemas = Object.fromEntries(
    names.map((name) => [name, buildSettingSchema(settingDefinitions[name as keyof typeof settingDefinitions])]),
  );
  const schema = buildValuesSchema({
    settings: settingSchemas,
    isPublic: (name) => !isSecretSetting(name),
    processors: Object.keys(processors),
    sinks: Object.keys(sinks),
  });
  return {
    [join(chartDirectory, 'files/components.json')]: `${JSON.stringify(buildChartData(), undefined, 2)}\n`,
    [join(chartDirectory, 'values.schema.json')]: `${JSON.stringify(schema, undefined, 1)}\n`,
  };
};

if (import.meta.main) for (const [path, text] of Object.entries(generateFiles())) writeFileSync(path, text);
