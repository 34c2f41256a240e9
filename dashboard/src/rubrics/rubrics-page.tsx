/** The pages of a run's evolving rubrics: all prompts, or one. */
import { PromptListView } from './prompt-list.tsx';
import { PromptView } from './prompt-view.tsx';
import '../styles/rubrics.css';

export function RubricsPage({ path: [run = '', prompt] }: { path: readonly string[] }) {
  return (
    <main class="page">
      {prompt === undefined ? <PromptListView run={run} /> : <PromptView key={prompt} run={run} prompt={prompt} />}
    </main>
  );
}
