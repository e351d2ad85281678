/** An empty list. Its texts are loaded on first use, because most lists have items. */
import { lazyLoad } from '../frame/lazy-load.tsx';

export const EmptyView = lazyLoad(async () => (await import('./empty-list.tsx')).EmptyList);
