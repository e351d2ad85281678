/** Where panels stand: on a grid of 24 columns, in sections. */
import { z } from 'zod';
import { VariableName } from './variables.ts';

/** Columns of the grid. */
const columns = 24;

/** Ids of panels and sections: the author's choice, and the same for as long as the thing is the same. */
export const StableId = z
  .string()
  .regex(/^[A-Za-z0-9][\w-]{0,63}$/, 'must be letters, digits, _ and -, at most 64, and begin with a letter or digit');

/** Of a panel or section: one for each chosen value of a variable. */
const repeated = {
  variable: VariableName,
  max: z.int().min(1).max(100).default(100).describe('Most of them'),
};

const SectionRepeat = z.strictObject(repeated);
export const PanelRepeat = z.strictObject({
  ...repeated,
  direction: z.enum(['across', 'down']).default('across'),
  perRow: z.int().min(1).max(columns).default(4).describe('Most beside each other, where they go across'),
});

/** Sections stand in the order of their list, below the panels that are in none. */
export const Section = z.strictObject({
  id: StableId,
  title: z.string().max(512).default('').describe('May use variables'),
  kind: z
    .enum(['row', 'tab'])
    .default('row')
    .describe('Tabs that follow each other are one set: one is shown at a time'),
  within: StableId.nullable().default(null).describe('The section that it is in'),
  folded: z.boolean().default(false).describe('Whether a row is closed when the dashboard is opened'),
  repeat: SectionRepeat.nullable().default(null),
});

/** A panel's place in its section. */
export const Place = z
  .strictObject({
    section: StableId.nullable().default(null).describe('null: above all sections'),
    x: z
      .int()
      .min(0)
      .max(columns - 1)
      .default(0),
    y: z.int().min(0).max(100_000).default(0),
    width: z.int().min(1).max(columns).default(12),
    height: z.int().min(1).max(1000).default(8),
  })
  .refine(({ x, width }) => x + width <= columns, {
    path: ['width'],
    message: `must end within the ${columns} columns of the grid`,
  });
