"""The wheel for one system, with attn in it: python3 wheel.py PURE ATTN NOTICES FOLDER

PURE is the wheel for all systems, NOTICES what of others is in attn. The tag is what the program needs: for Linux the newest version of a symbol of the C
library, 2.17 at least, and no other library. For Windows attn.exe is also packed alone, for those without Python. Files have the date of SOURCE_DATE_EPOCH."""
import base64
import hashlib
import os
import re
import struct
import sys
import time
import zipfile

LIBRARIES = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1")  # of every glibc
MACHINES = {62: "x86_64", 183: "aarch64"}
DATE = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]


def texts_at(table, start):
    return table[start:table.index(b"\0", start)].decode()


def needs(program):
    """(machine, libraries, [versions of glibc]) of an ELF program of 64 bits."""
    at, size, count, names = struct.unpack_from("<Q10xHHH", program, 0x28)[0], *struct.unpack_from("<HHH", program, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", program, at + size * i) for i in range(count)]
    content = lambda section: program[section[4]:section[4] + section[5]]
    titles, libraries, versions = content(sections[names]), [], []
    for section in sections:
        title, strings = texts_at(titles, section[0]), content(sections[section[6]])
        if title == ".dynamic":
            libraries += [texts_at(strings, value) for tag, value in struct.iter_unpack("<QQ", content(section)) if tag == 1]
        if title == ".gnu.version_r":
            table, place = content(section), 0
            for _ in range(section[7]):
                entries, first, step = struct.unpack_from("<2xH4xII", table, place)
                inner = place + first
                for _ in range(entries):
                    name, after = struct.unpack_from("<8xII", table, inner)
                    versions.append(texts_at(strings, name))
                    inner += after
                place += step
    return MACHINES[struct.unpack_from("<H", program, 0x12)[0]], libraries, versions


def tag_of(program):
    if program[:2] == b"MZ":
        return "win_amd64"
    machine, libraries, versions = needs(program)
    foreign = [name for name in libraries if name not in LIBRARIES] + [name for name in versions if not re.fullmatch(r"GLIBC_2\.[\d.]+", name)]
    if foreign:
        sys.exit("attn needs what not every Linux has: " + ", ".join(foreign))
    minor = max([17] + [int(name.split(".")[1]) for name in versions])
    return "manylinux_2_%d_%s" % (minor, machine) + (".manylinux2014_" + machine if minor == 17 else "")


def put(archive, name, content, mode=0o644):
    entry = zipfile.ZipInfo(name, DATE)
    entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def pack_wheel(pure, program, notices, folder):
    tag, ending = tag_of(program), ".exe" if program[:2] == b"MZ" else ""
    stem = os.path.basename(pure)[:-len("-py3-none-any.whl")]
    info = stem + ".dist-info/"
    files = [(stem + ".data/scripts/attn" + ending, program), (info + "licenses/NOTICES-attn.txt", notices)]
    with zipfile.ZipFile(pure) as source:
        files += [(one.filename, source.read(one)) for one in source.infolist() if not one.is_dir()]
    lines = []
    with zipfile.ZipFile(os.path.join(folder, "%s-py3-none-%s.whl" % (stem, tag)), "w") as wheel:
        for name, content in sorted(files):
            if name == info + "RECORD":
                continue
            if name == info + "WHEEL":
                head = re.sub(r"(?m)^(Root-Is-Purelib|Tag):.*\n?", "", content.decode()).rstrip("\n")
                content = "\n".join([head, "Root-Is-Purelib: false", *("Tag: py3-none-" + one for one in tag.split(".")), ""]).encode()
            put(wheel, name, content, 0o755 if name.startswith(stem + ".data/") else 0o644)
            lines.append("%s,sha256=%s,%d\n" % (name, base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode(), len(content)))
        put(wheel, info + "RECORD", "".join(lines) + info + "RECORD,,\n")
    return stem, tag


def main(pure, attn, notices, folder):
    program, terms = read(attn), read(notices)
    stem, tag = pack_wheel(pure, program, terms, folder)
    if tag == "win_amd64":
        name = "attn-%s-windows-x86_64" % stem.rsplit("-", 1)[1]
        with zipfile.ZipFile(os.path.join(folder, name + ".zip"), "w") as archive:
            for path, content in (("attn.exe", program), ("LICENSE", read(os.path.join(os.path.dirname(__file__), "../../LICENSE"))), ("NOTICES.txt", terms)):
                put(archive, name + "/" + path, content)


main(*sys.argv[1:])
