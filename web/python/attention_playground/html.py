"""One file that holds the whole page and files for it to open."""
import base64
import json
from html import escape

from .files import whole
from .server import PAGE

PAGE_OF_ITS_OWN = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>%(title)s</title>
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=overlays-content">
<meta name="color-scheme" content="light dark">
<style>
  nav { position: fixed; inset: 0 0 auto; height: 44px; display: flex; gap: 8px; align-items: center; padding: 0 16px; font: 14px system-ui, sans-serif; color: #1f2328; background: #f6f7f9 }
  nav select { font: inherit; height: 30px; min-width: 0; max-width: 480px; padding: 0 8px; border: 1px solid #8c919966; border-radius: 6px; color: inherit; background: transparent }
  nav ~ attention-playground { inset: 44px 0 0 }
  @media (prefers-color-scheme: dark) { nav { color: #e6e8eb; background: #16181d } }
</style>
<script>%(script)s</script>
%(choice)s<attention-playground page></attention-playground>
%(files)s
<script>
  const boards = %(boards)s, fetched = globalThis.fetch;
  const bytesOf = (id) => Uint8Array.from(atob(document.getElementById(id).textContent), (one) => one.charCodeAt(0));
  globalThis.fetch = (address, ...more) => {  // no file stands beside this one
    const id = `${address}`.split('#')[0];
    return boards.some((board) => board.id === id) ? Promise.resolve(new Response(bytesOf(id))) : fetched(address, ...more);
  };
  const element = document.querySelector('attention-playground'), choice = document.querySelector('nav select');
  const show = ({id, view}) => {
    if (view) element.addEventListener('change', () => { element.view = view; }, {once: true});  // a file begins on the board
    element.setAttribute('src', `${id}#proposed`);
  };
  choice?.addEventListener('change', () => show(boards[choice.selectedIndex]));
  show(boards[0]);
</script>
</html>
"""


def write_page(path, boards, title):
    """`boards` are (name, view, file, content): what to choose it by, the page that it opens on or "", and the name and bytes of a file that the page reads.
    All stands in the one file, so it works from a disk and without a network. Nothing is asked; where there are several, a list above the page has their
    names."""
    script = (PAGE / "standalone.js").read_text(encoding="utf-8").replace("</script", "<\\/script")
    options = "".join("<option>%s</option>" % escape(name) for name, *_ in boards)
    page = PAGE_OF_ITS_OWN % {
        "title": escape(title), "script": script,
        "choice": '<nav><label for="choice">Show</label><select id="choice">%s</select></nav>\n' % options if len(boards) > 1 else "",
        "files": "\n".join('<script type="text/plain" id="%s">%s</script>' % (file, base64.b64encode(content).decode()) for _, _, file, content in boards),
        "boards": json.dumps([{"id": file, "view": view} for _, view, file, _ in boards]),
    }
    whole(path, lambda file: file.write(page.encode()))
