import URLLoading

@testable import UncurlExtras
@testable import UncurlTestKit
@testable import UncurlTestServer

/// Images, recordings and forms.
extension Reader {
    static let extras = [
        Reader("image-header", of: "UncurlExtras/Images/ImageHeader") { octets in
            guard let header = try? ImageHeader(reading: Data(octets)) else { return }
            require(header.width > 0 && header.height > 0, "an image has a size")
        },
        Reader("png", of: "UncurlExtras/Images/ImageResponseSerializer") { octets in
            let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            for file in [octets, signature + octets] {
                _ = try? PNGDecoder(maximumPixels: 1 << 20).pixels(of: Data(file))
            }
        },
        Reader("http-archive", of: "UncurlTestKit/Cassette") { octets in
            guard let archive = try? HAR.read(Data(octets)) else { return }
            for entry in archive.log.entries {
                guard let content = entry.response.content.data else { continue }
                let written = HAR.Content(content, mimeType: entry.response.content.mimeType)
                require(written.data == content, "content is written as it was read")
            }
            require((try? JSONEncoder().encode(archive)) != nil, "an archive that was read can be written")
        },
        Reader(
            "url-pattern",
            of: "UncurlTestKit/RequestMatcher",
            text: { text in
                // A program writes its patterns itself, so they are short; URLs can be what others wrote.
                let pattern = URLPattern(String(decoding: text.utf8.prefix(1_000), as: UTF8.self))
                for url in ["http://a.test/b?c=d", text, ""] { _ = pattern.matches(url) }
            }
        ),
        Reader("multipart-form", of: "UncurlTestServer/Routes/Inspection") { octets in
            _ = RouteResponse.multipart(octets, contentType: "multipart/form-data; boundary=B")
            let text = String(decoding: octets.prefix(200), as: UTF8.self)
            _ = RouteResponse.multipart(octets, contentType: "multipart/form-data; boundary=\(text)")
        },
    ]
}
