import { z } from 'zod';
import { settingDefinitions } from '../schemas/settings.ts';

export interface DescribedSetting {
  /** Environment variable */
  readonly name: string;
  /** Empty without a default */
  readonly defaultText: string;
  readonly meaning: string;
}

/** Returns all settings in the order of their declaration. */
export const describeSettings = (): readonly DescribedSetting[] =>
  Object.entries(settingDefinitions).map(([name, schema]) => {
    const { default: value, description } = z.toJSONSchema(schema as z.ZodType, {
      io: 'input',
      unrepresentable: 'any',
    }) as { default?: unknown; description?: string };
    return {
      name: `OIQ_${name}`,
      defaultText: value === undefined ? '' : String(value),
      meaning: schema.description ?? description ?? '',
    };
  });

/** Returns all settings as text, one paragraph each. */
export const formatSettings = (): string =>
  describeSettings()
    .map(({ name, defaultText, meaning }) => `${name}${defaultText && ` (default ${defaultText})`}\n    ${meaning}\n`)
    .join('');
