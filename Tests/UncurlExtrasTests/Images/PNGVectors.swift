import Foundation
import Testing

/// Small images of every kind, made by zlib and another program's encoder in Python, and what their pixels are: five
/// by five, or three by two for the last. Interlaced ones of gray and of colors have a transparent color, indexed
/// ones transparencies.
enum PNGVectors {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let image: Data
        let pixels: [UInt8]
        var testDescription: String { name }
    }

    static let all: [Vector] = text.components(separatedBy: "\n\n").compactMap { entry in
        let lines = entry.components(separatedBy: "\n")
        func octets(_ mark: String) -> Data {
            Data(base64Encoded: lines.filter { $0.hasPrefix(mark) }.map { $0.dropFirst(2) }.joined()) ?? Data()
        }
        return lines.first.map { Vector(name: $0, image: octets("i "), pixels: Array(octets("p "))) }
    }

    private static let text = """
        gray 1
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFAQAAAAClFBtIAAAACUlEQVR42mNcwLSA2YHs8cPIAAAACUlEQVTlAYMDAA5mAqv95i/rAAAAAElF
        i TkSuQmCC
        p /////wAAAP//////AAAA/wAAAP8AAAD//////wAAAP8AAAD/AAAA/wAAAP///////////wAAAP8AAAD/AAAA//////8AAAD/AAAA/wAAAP8A
        p AAD//////wAAAP8AAAD/AAAA/w==

        gray 1 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFAQAAAAHSEyveAAAAAnRSTlMAAHaTzTgAAAAPSURBVHjaY2RgYmBuYGlgYGBUYNg27ckAAAAPSURB
        i VGpgPsDCwNDB+AMAHswD9p/NawkAAAAASUVORK5CYII=
        p AAAAAP//////////AAAAAAAAAAD/////AAAAAAAAAAAAAAAA/////wAAAAAAAAAAAAAAAAAAAAD/////////////////////////////////
        p ////AAAAAAAAAAAAAAAAAAAAAA==

        gray 2
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFAgAAAADitGGYAAAAC0lEQVR42mPa3cC8wYolvw19tSoAAAAMSURBVIFh9QFG7q8AKWAFinBK3xIA
        i AAAASUVORK5CYII=
        p qqqq//////+qqqr//////6qqqv8AAAD/AAAA//////9VVVX/qqqq/1VVVf///////////wAAAP8AAAD/qqqq/6qqqv+qqqr///////////8A
        p AAD/AAAA/6qqqv//////AAAA/w==

        gray 2 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFAgAAAAGVs1EOAAAAAnRSTlMAA++anIIAAAAQSURBVHjaY2JgPsCiwHCA8QATB/P3WtD0AAAAEElE
        i QVQCFgOGAsa+TUwXGwA/NgZQjee8xgAAAABJRU5ErkJggg==
        p AAAA/6qqqv////8Aqqqq/////wCqqqr/AAAA/////wCqqqr/VVVV/wAAAP////8AAAAA/1VVVf+qqqr/VVVV/1VVVf////8A////AP///wAA
        p AAD/VVVV/////wD///8Aqqqq/w==

        gray 4
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFBAAAAABt9JQ4AAAADklEQVR42mPxdVBmOO4UwOiu2ZoDTrwAAAAOSURBVMAkqBDAvP79PAAw4gXB
        i b29hDwAAAABJRU5ErkJggg==
        p RERE/93d3f+IiIj/3d3d/7u7u//MzMz/d3d3/0RERP8iIiL/VVVV/0RERP93d3f/d3d3/wAAAP//////VVVV/4iIiP+ZmZn/AAAA/0RERP/d
        p 3d3/u7u7/6qqqv9ERET/ERER/w==

        gray 4 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFBAAAAAEa86SuAAAAAnRSTlMADH8lgRMAAAARSURBVHjaY3nAcIDRjOkA8wIWPSaGER5pygAAABJJ
        i REFUM4ypTL7M9osYWJLyBQBlMAa/75fCOQAAAABJRU5ErkJggg==
        p 7u7u/8zMzADMzMwAzMzMAMzMzAAzMzP//////8zMzAARERH/ZmZm/yIiIv9mZmb/7u7u/1VVVf8zMzP/qqqq/xEREf8zMzP/AAAA/0RERP8z
        p MzP/u7u7/wAAAP8iIiL/ZmZm/w==

        gray 8
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAAAAACoBHk5AAAAE0lEQVR42mM+8Ca6MInF6NOuiq8MX7/PUss3egAAABRJREFU1/ZkNKm+kRfL
        i dH2XUdhuAOAKDlXCwmIgAAAAAElFTkSuQmCC
        p wMDA/0xMTP+BgYH/sbGx/7q6uv/y8vL/Pj4+/zs7O//5+fn/7u7u//X19f/39/f/n5+f/ysrK/9JSUn/NDQ0/6+vr/+Hh4f/9fX1/1JSUv8L
        p Cwv/aWlp/7m5uf9LS0v/DQ0N/w==

        gray 8 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAAAAAHfA0mvAAAAAnRSTlMAqK6e5uIAAAAWSURBVHjaY57BEsrQsomxlUmbucr8EIteL8OrIcPh
        i AAAAF0lEQVTZNMbkRqZtRSuKkpmjqzb7VwAAyCMMJKQmM1IAAAAASUVORK5CYII=
        p mJiY/y4uLv+FhYX/u7u7/1VVVf+2trb/cnJy/6ioqABycnL/Y2Nj/3p6ev/Nzc3/dHR0/2ZmZv/8/Pz/tra2/w4ODv8ODg7/j4+P//Hx8f+E
        p hIT/Y2Nj/7CwsP/k5OT/srKy/w==

        gray 16
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFEAAAAAD4lKV6AAAAIUlEQVR42gE3AMj/Abqxb4tHpMRtQNgCNv07ejwLNFaD+QOIo8M3F99HAAAA
        i IUlEQVSl4G2fBqwhBMb0cZCOs6ung8cAqj8sasqr7SPNgtbGGxYTsRPnAAAAAElFTkSuQmCC
        p urq6/ykpKf9wcHD/NDQ0/3R0dP/w8PD/ZGRk/6ysrP9oaGj/9vb2/wEBAf/19fX/r6+v/ysrK/89PT3/xsbG/2ZmZv/09PT/W1tb/93d3f+q
        p qqr/LCws/8rKyv/s7Oz/zc3N/w==

        gray 16 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFEAAAAAGPk5XsAAAAAnRSTlNK12SyLcAAAAAkSURBVHjaAT0Awv8BK3oCDhoDgPBmcARXCgCV/wFP
        i 07shKqoCUVVBC/948MkAAAAkSURBVAMb5sU9BCnhODYATWPuQkrX8t6zaAFHS5fRhaEJUKJIb3oWrBk48AoAAAAASUVORK5CYII=
        p Kysr/1FRUf9XV1f/QUFB/w4ODv9NTU3/7e3t/0tLSwDy8vL/s7Oz/1BQUP9DQ0P/CwsL/wcHB/80NDT/R0dH/93d3f9jY2P/bGxs/w4ODv+A
        p gID/bW1t/5WVlf97e3v/pqam/w==

        rgb 8
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAIAAAACDbGyAAAALUlEQVR42gFQAK//AITWQx+16tdCTQnhXQJMWAFI8j3XtLoXd4grcJbRWvkC
        i 2PBpR+ei8dKqAAAALklEQVTwvmEFBlgxo1e6A9Iw0tdEn7Xv6ub7B+/KZwSOj6aJsqdZiVxe+5YJXUAgmCgyGMGHMgAAAABJRU5ErkJggg==
        p hNZD/x+16v/XQk3/CeFd/wJMWP9I8j3/H6b3/zYdf/9hjRX/MucO/yDipv9mjef/9H6E/2flRv/VPsj/4qEl/3vbJf9smz7/T7tJ/4FG7/9w
        p MMv/+VNy/1Lczv+t12T/tqMv/w==

        rgb 8 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAIAAAF1CoEkAAAABnRSTlMAhADPAEzPWc0FAAAAMElEQVR42gFWAKn/ALsJrQE1K4cCW4qxNt39
        i A8SplwRDYMoA2SWJKnEiBa3VAerhCTZYbAJal/ZdAAAAMUlEQVQeTHxnBXMDBWrQqx5nBIsUXP8ufPqNdHnY4ZF2MACJQhZ6OFKGGVxnn5xp
        i lOSuryK8nb3cMQAAAABJRU5ErkJggg==
        p uwmt/+rhCf/EqZf/IDl1/zUrh/+LFFz/ikLY/4TPTAD9py3/jh1d/9klif8ILYX/KnEi/4c+6P8FrdX/iUIW/3o4Uv+GGVz/Z5+c/2mU5P9b
        p irH/CYAS/wcJYf/zfeT/Nt39/w==

        rgb 16
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFEAIAAABSnW3xAAAAU0lEQVR42gGbAGT/A8lCnZVuLBFoYSwunA1FePl/mfiU212v0xfJYaLZZASK
        i U3/IvRVwbXT8UVEhCWj1OjoXXTkxgoKGDn/9qggAunCoaaWmfSgRo559b43RD5MAAABTSURBVIy2kl2sAIyrsMNkKvPzBI7PAWbmfxECiMie
        i CDArbBskRUvoYYAPP/iEFtIObK6S1gLpl0hdpHPPgsVFZIsBdErfxnB+nP233E+QzJjC6i1dAkjRBLAXwwAAAABJRU5ErkJggg==
        p yJ1u/3WvZf9HzrH/HEIH/ySC3P9THCv/wpB8/5UX6v9fUIn/4wKG/7qopf99Ep7/b7Zd/wGrw/8r8o7/Zn8D/y6HLv9JzBX/yQuZ/5t3K/9P
        p x6b//EyR/0oW2/9HCHX/KxAV/w==

        rgb 16 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFEAIAAAElml1nAAAABnRSTlN2I+ux/OYBPgd7AAAAVklEQVR42gGhAF7/A0QkuK41twQj5S8TIdEA
        i xhBrb2vidnf+6/jnAQmlfTb6hAJ9ZjvhSWADJ6pLe6ne8w3RwsufbER/L4XkBMDU5xwZ/8c7GpbQ9gCCBJvcRJVqYoQAAABWSURBVFL4uomc
        i MvQBJjMuPEiSafALdHJnAvKdgR8mHof3eDVpEnYj67H85sPeJ0r1QJMbF+9lhgMZ5K3Z23tiMIoeu7btIJhHQbBXPmul98zanpGF4svIek5I
        i dadgTQAAAABJRU5ErkJggg==
        p RLg2/8DmGv8Kffr/hwLp/yQvIv/ygSb/h3hp/3br/ADDJ/T/kxhl/yhLqf+Cm0T/BvYf//iJM/9v+pT/ku3u/+48Zv+fLPH/CZTq/yflif/F
        p a2v/Ji5I/4a3RP+PObr/dv74/w==

        indexed 1
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFAQMAAAC3obSmAAAABlBMVEUhyccnuNtmF0zAAAAAAXRSTlOMpOgXbQAAAAlJREFUeNpj6WB4wfiC
        i joQsiAAAAAlJREFUqYOZAQARhgLrjXzpLQAAAABJRU5ErkJggg==
        p J7jb/yHJx4whyceMIcnHjCe42/8nuNv/J7jb/ye42/8hyceMJ7jb/ye42/8nuNv/J7jb/yHJx4wnuNv/IcnHjCe42/8nuNv/J7jb/yHJx4wh
        p yceMIcnHjCe42/8nuNv/J7jb/w==

        indexed 1 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFAQMAAAHApoQwAAAABlBMVEVX8dSvkJg1P12SAAAAAXRSTlOCQ1A6agAAAA1JREFUeNpjYWBoYGRg
        i YmBuYFIgPH4AAAAOSURBVEkAshqALAuWBwAeygOReieEMQAAAABJRU5ErkJggg==
        p V/HUgq+QmP9X8dSCV/HUgq+QmP9X8dSCV/HUgq+QmP+vkJj/r5CY/1fx1IKvkJj/r5CY/1fx1IKvkJj/V/HUglfx1IJX8dSCr5CY/6+QmP9X
        p 8dSCr5CY/6+QmP9X8dSCV/HUgg==

        indexed 2
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFAgMAAADwAc52AAAADFBMVEV6vIRnCtPE02vAiq0ireK8AAAAAnRSTlMf/5bLLCsAAAALSURBVHja
        i Y9h2gPGoNdOmC25MCAAAAAxJREFUBuZdbSzKGQAuPAV+zvzJCAAAAABJRU5ErkJggg==
        p xNNr/8CKrf9nCtP/xNNr/8CKrf/Aiq3/eryEH2cK0/9nCtP/eryEH2cK0//Aiq3/ZwrT/8CKrf/E02v/wIqt/8CKrf9nCtP/ZwrT/2cK0/96
        p vIQfZwrT/8TTa/96vIQfxNNr/w==

        indexed 2 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFAgMAAAGHBv7gAAAADFBMVEVyT0036isUAEB3E5sSSd0rAAAAAnRSTlNBgHJJMFwAAAAQSURBVHja
        i Y2hgZGA6wOzA0sBwgHFl+O2KAAAAEElEQVQCEwNzB8t8RYY/DAA/2wWpauXq8QAAAABJRU5ErkJggg==
        p FABA/xQAQP836iuAN+orgHJPTUEUAED/N+orgHcTm/93E5v/dxOb/3cTm/8UAED/ck9NQTfqK4ByT01BdxOb/3cTm/93E5v/ck9NQXJPTUF3
        p E5v/dxOb/3cTm/836iuAck9NQQ==

        indexed 4
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFBAMAAAB/QTvWAAAAMFBMVEX/1ymDdNm9dPwRrde5ymUDlSJp/WafY3bucYeXN/1fcvjVHErJG20M
        i SNQaHl7J5qCBnGvLAAAACHRSTlM5KFSoYV7vECeWnyEAAAAOSURBVHjaY7psNIGZ2aKUZe591y+sTAAAAA5JREFUSYb6cgbGm+YBAEBtBjtL
        i 87C7AAAAAElFTkSuQmCC
        p DEjU/xGt16gRrdeovXT8VJc3/f9p/WbvyRtt/+5xh/+fY3YQ/9cpOf/XKTmXN/3/Gh5e/+5xh/9fcvj/n2N2EMnmoP+fY3YQn2N2EP/XKTkM
        p SNT/lzf9/4N02Sj/1yk5af1m7w==

        indexed 4 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFBAMAAAEIRgtAAAAAMFBMVEVipbryD9J+zxTAEe0gH4NjIK25i6sWhqKNmAEhDHc28+7FgNz8Q/5d
        i BJtNeKej67mTmWy5AAAACHRSTlMoZchRftAhEVx05SwAAAASSURBVHjaY5rA/IBFjmEDYwKTbgLzKdBHfKkAAAASSURBVJaXDL8Zg9fXMVXM
        i XgAAbeYJI5JNfjQAAAAASUVORK5CYII=
        p IQx3//xD/v/FgNz/NvPu/014p/9jIK3QwBHtUWKluih+zxTIjZgB/37PFMjFgNz/XQSb/8AR7VG5i6sh/EP+/8WA3P8hDHf/XQSb/37PFMjy
        p D9Jlo+u5/7mLqyHFgNz/TXin/w==

        indexed 8
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAMAAAC6sdbXAAAAMFBMVEWChWXgfl99eE6QYKchyoB9djPtEjQC83blvxSWdz0ZYWMmvlvlhQM2
        i s28TvK5IFmj0u818AAAACHRSTlOCE2gFp9G+Xnbq1WwAAAATSURBVHjaY2Rj+MPxm+kfIyfDH2ZWju/BWgAdAAAAFElEQVSMzCx/v7H/ZWdg
        i Y+Pn5AMAjJkITNTCrIYAAAAASUVORK5CYII=
        p 7RI0vu0SNL59eE5oGWFj/312M9EhyoCnAvN2Xia+W/8ZYWP/4H5fEwLzdl5IFmj/IcqAp+W/FP8C83ZeIcqAp312M9Emvlv/5b8U/xO8rv/t
        p EjS+7RI0vkgWaP+Wdz3/E7yu/w==

        indexed 8 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAMAAAHNtuZBAAAAMFBMVEW6ZMjPaAPeUNg6Ls+661NCBxpIyy29V0qykVJXIjfE+2WaQBb3oRvG
        i LFJxz2TyXW9F4r7RAAAACHRSTlMVzFDEtz9Mftz5VkEAAAAWSURBVHjaY+Rn4mXmZ2LhYGBh5P/CzsTOwMzw4il2AAAAFklEQVTNwvLjPwM7
        i AwMzFyMjA88PVgA/6wSED2yghgAAAABJRU5ErkJggg==
        p 8l1v/71XSn6ykVL/umTIFcYsUv+9V0p+umTIFbpkyBU6Ls/ExPtl//Jdb/9xz2T/Oi7PxJpAFv/E+2X/z2gDzM9oA8zGLFL/QgcaP8T7Zf/y
        p XW//SMstTLrrU7dCBxo/VyI3/w==

        grayAlpha 8
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAQAAAAnZu5uAAAAIUlEQVR42gE3AMj/AmIVE6U8x+mc150DTs9+/WMfdU1opgRvn/aUaLcgAAAA
        i IUlEQVRydwhxK8dHALfcuy7iFBRCKqABKBuZKkzcK0ILmJx8Fo/B8Vq+AAAAAElFTkSuQmCC
        p YmJiFRMTE6U8PDzH6enpnNfX151/f3/Zx8fHvOTk5OBbW1sLAQEB+u7u7njk5OTqW1tb8szMzDYiIiJBt7e33Lu7uy7i4uIUFBQUQioqKqAo
        p KCgbwcHBRQ0NDSE4ODhjQ0ND+w==

        grayAlpha 8 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAQAAAFQYd74AAAAJElEQVR42gE9AML/ApNUA4zpBLipyfUAs4EBdVoCXc6nwDoYA3EhGZWKKr6H
        i AAAAJElEQVQE4W0F4gAp4hiXAUmCrOiRDx1Fb6cCb2VAF0NF5AKq5fmBGEee7nOBAAAAAElFTkSuQmCC
        p k5OTVHFxcSGzs7OBUVFRpYyMjOlJSUmC9fX1aoaGhnmjo6O+EhISZV1dXc5SUlKOp6enwFZWVoc6OjoYuLi45zU1NYHJycm+h4eHwLy8vEq4
        p uLipKSkp4nV1dVoYGBiXgYGBng==

        grayAlpha 16
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFEAQAAAB39jItAAAAOklEQVR42gFpAJb/AKATAOoRTXF6THmU+t1N1du6axh2AUOY+g4xwx1Ilw4E
        i g/btmuSaLYG4AnNEeMRfOIPaqEzYggAAADpJREFUOQ5NsbotPmm2tA6IA6zLQ07fDFtj6Zl56dTNAb+ApiC9BP6poAZnfGddSUpfCFgwdhZJ
        i ux822IsuqF3+s0AAAAAASUVORK5CYII=
        p n5+fAREREXFMTEyU3Nzc1bq6uhhDQ0P5dHR0FwsLCxwBAQG1m5ubNra2tnLT09OaREREaLu7u/JRUVFFBwcHfExMTOYxMTEgSkpKis3NzYcG
        p BgYds7Oz4vv7+39UVFQAFhYWHw==

        grayAlpha 16 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFEAQAAAEA8QK7AAAAPUlEQVR42gFvAJD/AAzqz90BZP9I1wIrvAfLYkXHBANRhB3jBCdfSu8AwBTf
        i kOesWcyF2XbvAV8Oea/WqY2jAo8pwwpW/AAAAD1JREFUsIU++C+VA9/RcTXts0rABNOMZicBDvNDys3HPPtV+C1b9uttABPfPxyryIbPGuWI
        i L99Ch9SXW28aXLE1jL3t7OEAAAAASUVORK5CYII=
        p DQ0Nz19fX3lRUVEeNjY2BmVlZUnT09Nm1NTUWZ6eniGZmZkZ9PT0A7+/v9/t7e0p5+fnWXNzczaFhYV2FBQUP6urq4YbGxuI3t7eh5eXl28s
        p LCwIV1dXhXh4eGdRUVGnYmJixg==

        rgba 8
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAOklEQVR42gFpAJb/BKh6wvBJiUvvhppf6bC63kjm4uxCALBIDg8VRhUiFyG6
        i ZiHENn5paDkRAREsk/QiF590236POwAAADpJREFUY2B6cO9nB6sLDgkhAuJnfN/cnABJWnXCVg5NLH3Xe19eAzmyKZL+EICvqgfeHY3gku5I
        i wn6hafktmBsOa/YAAAAASUVORK5CYII=
        p qHrC8PEDDd93nWzIJ1dKEA05NlKwSA4PFUYVIhchumYhxDZ+aWg5EREsk/QzQzJolqOs2IUKs4OQGLyk85MP0w/fMrHwGG4uk1ffAGeTGwKy
        p +zD7Xv2xhVGRbXb/VDgp+zWntg==

        rgba 8 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAAH6aBZzAAAAPUlEQVR42gFvAJD/BDDNyiwAEbKnTwE/6N2gHr8oJwKbhttXA38NE60EeKdg
        i hEym6xZz6UTPANgMvmnCd+tAATRUJGj0jQAAAD1JREFUNGRkilgAAlHeohhfC35tA+alVu1tMUvKO6s+QjMkEx46WosrBOBIuxkG8mCRQh/S
        i 7CT3NHoIc8OAwlYs8Hpw3XAAAAAASUVORK5CYII=
        p MM3KLNgMvmmbhttXwnfrQBGyp0/mpVbt4IN2QKvseWKImk9PfqeyUninYIQ0VDRkxE1LmpjejGQ3No9pxu0RBszfcZftC0iDzwJ83Nd1dVw/
        p 6N2ghTLWfMxQgNj36QrRXacFxw==

        rgba 16
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFEAYAAADd//qmAAAAbElEQVR42gHNADL/AvrMNncTh4Cgb45SWWZNskgzwenfaPPzkwg/vWWvitIZ
        i 6fBrkF4byPQDwUSbxRO6QfI23D9Ui/6GOKc0UM88hU7JrcIWUXWDnrPNx1RiJpArwQSu8LaMOEDB8TfO9lsk+FQ3RGvA5diyAAAAbElEQVSO
        i 5uNlGC3ia4xIuWVDud9KAeDQgbkwANoqXyz2kAFhj/q3SH1smoikAfWH+EfbYyu8uZBONZs4xS0dNyuppj8BR+KwtwesBeAkgnQmj1d7I8iV
        i JTfhnN8MtG5oTdeMC7bnq6SX4B4uUbRqZaOz7ZlFAAAAAElFTkSuQmCC
        p +jYTgG9SZrI06WnzCL2v0elrXsg+tR2BjMPMHwcm1da0hzhym8xwyOxsVEIjY+9zS7TT75ZA77V2iMCB2V/2AY+3fZqj9ffbLLlOm8QdK6ZI
        p sAgGayWVgDRJd1/nsU5qzVYulw==

        rgba 16 interlaced
        i iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFEAYAAAGq+MowAAAAb0lEQVR42gHTACz/AmUN/SptGyhAA0nx+5V+Pf8QBJnON40DLhfBeSCgSzBU
        i 7x4A1ox35UdX8kwBS0oqf2zMFDUC+CdJ+hFabT27ea7A8vZr5IDOGv6UC5X0A+COO+Q8oYdrjC0Ae9mvrPEE9DoFFXG8qfK4kSfLAAAAb0lE
        i QVSVtMHYuHNRHQBhP/M6HsvAiOpvWQkz5VzTAVRIA2FSGqQwm1D7ZUXeSkjQYtw+P3c4Ip1y3n84LOTsuxDxriKC7V8CYZH5aXybBq2cg7LE
        i 0T0OiH1nz2eMB3zAPceJzR47Cvu1vSay6VXVIHlIYv+OnojCAAAAAElFTkSuQmCC
        p ZfxtKOA8PIfWd0fx+x737kr7fv5UA1Kk7/6X7r/Z1iZcuA8KF6kw9/dKEW3UQa0wu67ya5HerteAG5OVtfzOqouwaPs8qWKimUEtFMvPGcuZ
        p NwMYYfIfwEsqbBTqWTRcE9czBw==

        by another program
        i iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAHElEQVR42mP4z8DA8J+BgeE/IyMT88+fP9taWwA+1gd/DJAowQAAAABJRU5E
        i rkJggg==
        p /wAA/wD/AP8AAP//AQID//r7/P+AgID/
        """
}
