/** Links of panels and fields. */
import type { z } from 'zod';
import { type Fields, isFields } from '../../../runtime/fields.ts';
import { Link } from '../../../schemas/dashboards/links.ts';
import type { Ledger } from './ledger.ts';

type PanelLink = z.output<typeof Link>;

/** Converts a list of links. Links to forbidden addresses are reported and not converted. */
export const readLinks = (list: unknown, ledger: Ledger): PanelLink[] => {
  if (!Array.isArray(list)) return [];
  return list.slice(0, 32).flatMap((link) => {
    if (!isFields(link)) return [];
    const { title = '', url, targetBlank = false } = link;
    const parsed = Link.safeParse({ title, url, newTab: targetBlank });
    if (!parsed.success) return [];
    ledger.carry(link, 'title', 'url', 'targetBlank');
    return [parsed.data];
  });
};

export const writeLinks = (links: readonly PanelLink[]): Fields[] =>
  links.map(({ title, url, newTab }) => ({
    title,
    type: 'link',
    icon: '',
    tooltip: '',
    url,
    tags: [],
    asDropdown: false,
    targetBlank: newTab,
    includeVars: false,
    keepTime: false,
  }));
