/**
 * Generates the parts of the chart that follow from the code: the list of processors and sinks, and the schema of the
 * values. `node bin/node.mjs charts/generate.ts` writes them; a test fails, with the names, while they are outdated.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { processorGroups, scheduleTopics } from '../processors/index.ts';
import { isSecretSetting, settingDefinitions } from '../schemas/settings.ts';
import { allTopics } from '../schemas/topics.ts';
import { sinkGroups } from '../sinks/index.ts';
import { settingText, valuesSchema } from './values-schema.ts';

const chart = fileURLToPath(new URL('oiq', import.meta.url));

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

const componentsOf = (
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
const minCharacters = (): Record<string, number> =>
  Object.fromEntries(
    Object.entries(settingDefinitions).flatMap(([name, schema]) => {
      const { minLength } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
      return minLength === undefined || !isSecretSetting(name) ? [] : [[name, minLength]];
    }),
  );

/** Every consumer, with its consumer group and the partitions of its topics. */
export const components = () => ({
  minCharacters: minCharacters(),
  shutdownSeconds: settingDefinitions.SHUTDOWN_SECONDS.parse(undefined),
  processors: componentsOf('processors', processorGroups),
  sinks: componentsOf('sinks', sinkGroups),
});

const entries = (names: readonly string[]): string =>
  ['processors:', ...names.map((name) => `  ${name}: {}`)].join('\n');

/** Generated files of the chart, by path. */
export const generatedFiles = (): Readonly<Record<string, string>> => {
  const { processors, sinks } = components();
  const names = Object.keys(settingDefinitions).filter((name) => !(name in managedSettings));
  const texts = Object.fromEntries(
    names.map((name) => [name, settingText(settingDefinitions[name as keyof typeof settingDefinitions])]),
  );
  const schema = valuesSchema({
    settings: texts,
    isPublic: (name) => !isSecretSetting(name),
    processors: Object.keys(processors),
    sinks: Object.keys(sinks),
  });
  const values = readFileSync(join(chart, 'values.yaml'), 'utf8');
  const marked = /(# processors: written by [^\n]*\n)[\s\S]*?(?=# \/processors)/;
  return {
    [join(chart, 'files/components.json')]: `${JSON.stringify(components(), undefined, 2)}\n`,
    [join(chart, 'values.schema.json')]: `${JSON.stringify(schema, undefined, 1)}\n`,
    [join(chart, 'values.yaml')]: values.replace(
      marked,
      (_, head: string) => `${head}${entries(Object.keys(processors).sort())}\n`,
    ),
  };
};

if (import.meta.main) for (const [path, text] of Object.entries(generatedFiles())) writeFileSync(path, text);
