// The element and its wrapper in an application with React.
import {useRef} from 'react';
import type {AttentionPlayground as Element, PlaygroundCheck} from 'attention-playground';
import type {} from 'attention-playground/jsx';
import {AttentionPlayground, type AttentionPlaygroundProps} from 'attention-playground/react';

export function Page({title, onReady}: {title: string | undefined; onReady: AttentionPlaygroundProps['onReady']}) {
  const ref = useRef<Element>(null), tag = useRef<Element>(null);
  const check: PlaygroundCheck = {tensor: 'weights', at: [0, 'saw', null], min: 0.1};
  return <div>
    <attention-playground ref={tag} key="one" class="wide" preset="uniform" show={['q', 'k']} fit loading="eager" title={title} hidden={false} role="group"
      tabIndex={0} aria-label="A board" data-name="one" dir={undefined} onClick={() => tag.current?.undo()} onattention-change={({detail}) => detail.source}
      style={{height: 300}}>Words in its place.</attention-playground>
    <AttentionPlayground ref={ref} key="two" className="wide" preset="uniform" show="q,k" lock="heads" view={undefined} title={title} hidden={undefined} role="group"
      tabIndex={undefined} aria-label="A board" data-name="two" id={undefined} style={undefined} onClick={() => ref.current?.undo()} onReady={onReady} onError={undefined}
      onFit={({detail}) => detail.height.toFixed()} onChange={({detail}) => detail.source} onTrain={({detail}) => detail.loss.toFixed()}>Words in its place.</AttentionPlayground>
    <AttentionPlayground onReady={() => ref.current?.on(check, () => {})} onStep={({detail: {lesson, step}}) => `${lesson} ${step}`}/>
  </div>;
}

// @ts-expect-error: there is no such theme
export const theme = <attention-playground theme="pink"/>;
// @ts-expect-error: nor such a preset
export const preset = <attention-playground preset="i-saw-a-sow"/>;
// @ts-expect-error: nor such an attribute
export const attribute = <attention-playground shown="q"/>;
// @ts-expect-error: nor such an event
export const event = <AttentionPlayground onNothing={() => {}}/>;
// @ts-expect-error: nor such a view
export const view = <AttentionPlayground view="blocks"/>;
// @ts-expect-error: nor such a part
export const part = <AttentionPlayground show="qq"/>;
