import { z } from 'zod';
import { settingDefinitions } from '../schemas/settings.ts';

/** Returns the table of settings as text, one paragraph each; with `markdown`, as the table of the README. */
export const formatSettingsTable = (markdown = false): string => {
  const rows = Object.entries(settingDefinitions).map(([name, schema]) => {
    const jsonSchema = z.toJSONSchema(schema as z.ZodType, { io: 'input', unrepresentable: 'any' }) as {
      default?: unknown;
      description?: string;
    };
    const defaultText = jsonSchema.default === undefined || jsonSchema.default === '' ? '' : String(jsonSchema.default);
    return { name: `OIQ_${name}`, fallback: defaultText, meaning: schema.description ?? jsonSchema.description ?? '' };
  });
  if (!markdown)
    return rows
      .map(({ name, fallback, meaning }) => `${name}${fallback && ` (default ${fallback})`}\n    ${meaning}\n`)
      .join('');
  return [
    '| variable | default | meaning |',
    '| --- | --- | --- |',
    ...rows.map((row) => `| \`${row.name}\` | ${row.fallback && `\`${row.fallback}\``} | ${row.meaning} |`),
    '',
  ].join('\n');
};
