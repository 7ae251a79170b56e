"""One file that holds the whole page and a file for it to open."""
import base64
from html import escape

from .files import whole
from .server import PAGE

PAGE_OF_ITS_OWN = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>%s</title>
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=overlays-content">
<meta name="color-scheme" content="light dark">
<script>%s</script>
<attention-playground page></attention-playground>
<script type="text/plain" id="tensors">%s</script>
<script>
  const bytes = Uint8Array.from(atob(document.getElementById('tensors').textContent), (one) => one.charCodeAt(0)), fetched = globalThis.fetch;
  globalThis.fetch = (address, ...more) => address === '%s' ? Promise.resolve(new Response(bytes)) : fetched(address, ...more);  // no file stands beside this one
  document.querySelector('attention-playground').setAttribute('src', '%s');
</script>
</html>
"""


def write_page(path, content, name, title):
    """`content` is a file of any format that the page reads, called `name`. All stands in the one file, so it works from a disk and without a network."""
    script = (PAGE / "standalone.js").read_text(encoding="utf-8").replace("</script", "<\\/script")
    page = PAGE_OF_ITS_OWN % (escape(title), script, base64.b64encode(content).decode(), name, name)
    whole(path, lambda file: file.write(page.encode()))
