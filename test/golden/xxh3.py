"""Prints xxh3.json: what Debian's xxhsum 0.8 (apt-get install xxhash) says of inputs of every length class.

Byte i of the input of length n is (i*i*31 + i*7 + n) % 256. Run: python3 test/golden/xxh3.py > test/golden/xxh3.json
"""
import json, re, subprocess

lengths = [*range(0, 260), 511, 512, 513, 1023, 1024, 1025, 1026, 1087, 1088, 1089, 2047, 2048, 2049, 4096, 10000, 65536]
vectors = {}
for n in lengths:
    data = bytes((i * i * 31 + i * 7 + n) % 256 for i in range(n))
    out = subprocess.run(['xxhsum', '-H3', '-'], input=data, capture_output=True, check=True).stdout.decode()
    vectors[n] = re.search(r'[0-9a-f]{16}', out)[0]
print(json.dumps(vectors, indent=0))
