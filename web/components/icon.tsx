/** Icon of the Lucide set, in the color of its text */
import type { IconNode } from 'lucide';
import { h } from 'preact';

/** An icon, imported by name: `import { Bell } from 'lucide'` */
export type IconShape = IconNode;

/** An icon is decorative: the text or the label next to it has its meaning. */
export const Icon = ({ shape, size = 16 }: { readonly shape: IconShape; readonly size?: number }) => (
  <svg
    class="icon"
    viewBox="0 0 24 24"
    width={size}
    height={size}
    fill="none"
    stroke="currentColor"
    stroke-width={size > 24 ? 1.5 : 2}
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    {shape.map(([tag, attributes], index) => h(tag, { key: index, ...attributes }))}
  </svg>
);
