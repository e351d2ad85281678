/** Links of dashboards, panels and fields. A link can never be a script URL, whatever values its variables have. */
import { z } from 'zod';

/**
 * `http:`, `https:`, or a path of this installation: a single leading slash. Variables are allowed only after that, so
 * that no value can change the scheme or host.
 */
const LinkTarget = z
  .string()
  .max(4096)
  .regex(/^(?:https?:\/\/[^\s\\/]|\/(?![/\\]))/i, 'must begin with http://, https:// or a single / (a path)')
  .regex(/^\P{Cc}*$/u, 'must not contain control characters');

export const Link = z.strictObject({
  title: z.string().max(512).default(''),
  url: LinkTarget,
  newTab: z.boolean().default(false),
});

const commonFields = {
  keepTime: z.boolean().default(false).describe('Whether the link includes the time range'),
  keepVariables: z.boolean().default(false),
  newTab: z.boolean().default(false),
};

/** A link above the panels: to an address, or to all dashboards with these tags. */
export const DashboardLink = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('address'),
    title: z.string().max(512).default(''),
    url: LinkTarget,
    tooltip: z.string().max(512).default(''),
    icon: z.string().max(64).default(''),
    ...commonFields,
  }),
  z.strictObject({
    kind: z.literal('dashboards'),
    title: z.string().max(512).default(''),
    tags: z.array(z.string().min(1).max(64)).max(32).default([]),
    asMenu: z.boolean().default(false),
    ...commonFields,
  }),
]);
